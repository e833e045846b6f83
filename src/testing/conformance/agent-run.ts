import { givenTools } from '@sluice/agent/internal';
import type {
  AgentProvider,
  AgentRequest,
  SessionEvent,
  SessionMessage,
  ToolCall,
  ToolDecision,
  ToolGate,
} from '@sluice/sdk/stream';
import { silentLogger, systemClock } from 'sluice-kernel';
import { broken, within } from './check.js';
import { unjudged } from './unjudged.js';

/** A run, as a check has seen it. */
export interface Seen {
  readonly events: readonly SessionEvent[];
  /** The calls that the gate was asked about, with the number of events that had come then. */
  readonly asked: readonly { readonly call: ToolCall; readonly at: number }[];
  /** The error that the run threw. */
  readonly thrown: unknown;
}

export interface RunOptions extends Pick<AgentRequest, 'begun' | 'callsAgain'> {
  readonly gate?: (call: ToolCall) => ToolDecision;
  /** Stops the turn at the first event of a message, or after a while if none comes. */
  readonly stop?: 'abort' | 'return';
  readonly runId?: string;
}

/** Takes one run of a provider. */
export async function take(
  provider: AgentProvider,
  prompt: string,
  timeoutMs: number,
  options: RunOptions = {},
): Promise<Seen> {
  const {
    gate = ({ args }) => ({ allowed: true, args }),
    stop,
    runId = 'run-1',
    ...work
  } = options;
  const events: SessionEvent[] = [];
  const asked: { call: ToolCall; at: number }[] = [];
  const turn = new AbortController();
  let thrown: unknown;
  const ids = { runId, agentId: 'main', sessionId: `session-${runId}` };
  const run = { ...ids, sessionKey: `agent:main:${runId}`, trigger: 'user' };
  const judged: ToolGate = async (call) => {
    asked.push({ call, at: events.length });
    return gate(call);
  };
  const request: AgentRequest = {
    ...run,
    ...work,
    model: provider.models[0] ?? broken('it offers no model'),
    prompt,
    ...{ attachments: [], history: [] },
    session: { context: {}, memoryKeys: [], metadata: {} },
    keepSession: () => undefined,
    gate: judged,
    offer: (tools) =>
      givenTools(tools, {
        ...{ run, gate: judged, clock: systemClock, logger: silentLogger, signal: turn.signal },
        judge: { returning: unjudged.toolReturning, judgesResults: false },
        around: (work) => work(),
      }),
    written: () => writtenIn(events),
    ...unjudged,
    tell: () => undefined,
    signal: turn.signal,
  };
  await within(`a run of ${JSON.stringify(prompt)}`, timeoutMs, async () => {
    // an agent that has nothing to say yet is stopped all the same
    const late = systemClock.setTimeout(() => stop !== undefined && turn.abort(), timeoutMs / 2);
    try {
      for await (const event of provider.run(request)) {
        events.push(event);
        if (stop === undefined || event.type !== 'message_start') continue;
        if (stop === 'return') break;
        turn.abort();
      }
    } catch (error) {
      if (stop !== 'return' || !turn.signal.aborted) thrown = error;
    } finally {
      systemClock.clearTimeout(late);
    }
  });
  return { events, asked, thrown };
}

/** The messages that a turn would have written. */
function writtenIn(events: readonly SessionEvent[]): readonly SessionMessage[] {
  return events.flatMap((event): SessionMessage[] => {
    if (event.type === 'message_end') return [event.message];
    if (event.type !== 'tool_execution_end') return [];
    const { toolCallId, toolName, result, isError } = event;
    const text = typeof result === 'string' ? result : JSON.stringify(result);
    const content = [{ type: 'text' as const, text }];
    return [{ role: 'toolResult', toolCallId, toolName, content, isError }];
  });
}
