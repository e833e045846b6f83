import { say } from '@sluice/agent/internal';
import {
  type AgentProvider,
  type AgentRequest,
  type AgentTool,
  type AgentToolCall,
  type AssistantContent,
  MessageWriter,
  type SessionEvent,
  type ToolCallContent,
} from '@sluice/sdk/stream';
import { onAbort } from 'sluice-kernel/internal';

/**
 * A tool call of a scripted agent. It runs only if `agent.llm.returning` leaves it and the gate allows it, with the arguments that the gate gives back. Without a
 * `result`, a tool of the host with that name is called, if there is one.
 */
interface ScriptedToolCall {
  readonly tool: string;
  readonly args?: Readonly<Record<string, unknown>>;
  /** The result: plain data, or a function of the arguments. A function that throws is a failed call. `done` by default. */
  readonly result?: unknown;
}

/** A step of a scripted turn: words to say, thoughts, a tool call, a wait, or the failure of the model. */
export type AgentStep =
  | string
  | { readonly thinking: string }
  | ScriptedToolCall
  /** Goes on when the promise settles, or when the turn is stopped. */
  | { readonly until: () => Promise<unknown> }
  /** The turn throws. */
  | { readonly fails: string };

/** A scripted agent, with what it was asked. */
export interface ScriptedAgent extends AgentProvider {
  /** The requests that it got, in order. */
  readonly requests: readonly AgentRequest[];
}

/**
 * Makes an agent that needs no model: its n-th turn makes the n-th list of steps. After the last list it repeats it.
 *
 * @param turns one list of steps for each turn.
 * @param options.id the id of the provider; `scripted` by default.
 * @example
 * const agent = scriptedAgent([['Let me look.', { tool: 'search', args: { query: 'tea' }, result: 'green' }, 'It is green.']]);
 * await using test = await startTestHost({ agents: [{ id: 'main', provider: agent }] });
 */
export function scriptedAgent(
  turns: readonly (readonly AgentStep[])[],
  { id = 'scripted' }: { readonly id?: string } = {},
): ScriptedAgent {
  const requests: AgentRequest[] = [];
  return {
    id,
    models: [id],
    toolGate: 'enforce',
    modelGate: 'enforce',
    ownTools: [],
    requests,
    run: (request) => {
      const steps = turns[Math.min(requests.length, turns.length - 1)] ?? [];
      requests.push(request);
      return take(steps, request, id);
    },
  };
}

async function* take(
  steps: readonly AgentStep[],
  request: AgentRequest,
  id: string,
): AsyncGenerator<SessionEvent> {
  const writer = new MessageWriter({ provider: id, model: request.model });
  let blocks: Exclude<AssistantContent, { type: 'error' }>[] = [];
  /** Says the blocks, as one answer of a model. @returns the calls that are left of it. */
  const spoken = async function* (): AsyncGenerator<SessionEvent, readonly ToolCallContent[]> {
    if (blocks.length === 0) return [];
    await request.llmCalling();
    for (const event of say(writer, blocks)) yield event;
    blocks = [];
    const { content = [] } = (await judged(writer, request)) ?? {};
    return content.flatMap((block) => (block.type === 'toolCall' ? [block] : []));
  };
  yield { type: 'agent_start' };
  for (const [at, step] of steps.entries()) {
    if (request.signal.aborted) return;
    if (typeof step === 'string') blocks.push({ type: 'text', text: step });
    else if ('thinking' in step) blocks.push({ type: 'thinking', thinking: step.thinking });
    else if ('fails' in step) {
      yield* spoken();
      throw new Error(step.fails);
    } else if ('until' in step) {
      yield* spoken();
      await Promise.race([step.until(), aborted(request.signal)]);
    } else {
      const { tool, args = {} } = step;
      const id = `${request.runId}-${at}`;
      blocks.push({ type: 'toolCall', id, name: tool, arguments: { ...args } });
      for (const { id: toolCallId, name: toolName, arguments: args } of yield* spoken()) {
        const call = { toolCallId, toolName, args };
        yield { type: 'tool_execution_start', ...call };
        const given = request.tools?.find(({ name }) => name === toolName && !('result' in step));
        const end = given
          ? await callGiven(given, call)
          : await callTool(step, await request.gate(call));
        yield { type: 'tool_execution_end', toolCallId, toolName, ...end };
      }
    }
  }
  yield* spoken();
  yield { type: 'agent_end', messages: writer.messages };
}

async function judged(writer: MessageWriter, request: AgentRequest) {
  const message = writer.messages.at(-1);
  return message && (await request.llmReturning(message));
}

interface CallEnd {
  readonly result: unknown;
  readonly isError: boolean;
}

async function callGiven(tool: AgentTool, call: AgentToolCall): Promise<CallEnd> {
  const result = await tool.call(call);
  return { result, isError: result.isError };
}

async function callTool(
  { result = 'done' }: ScriptedToolCall,
  decision: Awaited<ReturnType<AgentRequest['gate']>>,
): Promise<CallEnd> {
  if (!decision.allowed) return { result: decision.reason, isError: true };
  try {
    const answer: unknown = typeof result === 'function' ? await result(decision.args) : result;
    return { result: answer, isError: false };
  } catch (error) {
    return { result: String(error), isError: true };
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => void onAbort(signal, resolve));
}
