import type { AgentProvider, SubagentFact, ToolCall } from '@sluice/sdk/stream';
import { inOrder } from '@sluice/sdk/stream/internal';
import { type Clock, definedFields, type Logger, type StopSignal } from 'sluice-kernel/internal';
import type { Approvals } from './approvals.js';
import { type ChildCall, ChildRuns } from './child-runs.js';
import type { RunFields, RunSession } from './run-fields.js';
import type { ToolCalls } from './tool-calls.js';
import type { Trail } from './trail.js';

/** The parts that the subagents of a run need. */
interface SubagentsOptions {
  readonly trail: Trail;
  readonly run: RunFields;
  readonly session: RunSession;
  readonly tools: ToolCalls;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Asks humans what vetoes ask about; without it, that is refused. */
  readonly approvals: Approvals | undefined;
  /** Tells which subagent a call starts, if it starts one. */
  readonly subagentOf: NonNullable<AgentProvider['subagentOf']>;
}

/** The subagents of one run, with the tools that they call. */
export function subagents(options: SubagentsOptions) {
  const { trail, run, session, tools, clock, logger, approvals, subagentOf } = options;
  /** The calls of subagents that were seen, with their states: a source may tell of one twice. */
  const calls = new Map<string, 'runs' | 'ended'>();
  let waiting: Promise<void> | undefined;
  const { runId } = run;
  const children = new ChildRuns(trail, session, clock, { runId, approvals });

  /** A call was seen, in the main thread or of a subagent. */
  function called(call: ToolCall): Promise<unknown> | undefined {
    const child = childOf(call);
    if (child === undefined) return undefined;
    children.called(child);
    return tools.toolGate() === 'observe-only' ? children.ask(child, 'observe-only') : undefined;
  }

  async function dispatch(fact: SubagentFact): Promise<void> {
    switch (fact.kind) {
      case 'child_runs':
        return children.runs(fact.child);
      case 'child_stopped':
        return children.stopped(fact.childRunId);
      case 'child_ended':
        return children.ended(fact.childRunId, fact.status, fact.error);
      case 'tool_started': {
        const { call } = fact;
        if (calls.has(call.toolCallId)) return;
        calls.set(call.toolCallId, 'runs');
        await tools.started(call);
        await called(call);
        return;
      }
      case 'tool_ended': {
        const { toolCallId, isError } = fact.end;
        if (calls.get(toolCallId) === 'ended') return;
        calls.set(toolCallId, 'ended');
        await children.answered(toolCallId, isError);
        return tools.ended(fact.end);
      }
      case 'answered': // for those who send what is said
      case 'children_answered':
        return;
    }
  }

  function childOf(call: ToolCall): ChildCall | undefined {
    const started = subagentOf(call);
    if (started === undefined) return undefined;
    const { toolCallId, subagentId } = call;
    return { ...started, toolCallId, ...definedFields({ subagentId }) };
  }

  return {
    /** Settles when every fact so far has been dispatched; `undefined` if none waits. */
    telling: (): Promise<void> | undefined => waiting,
    /** Asks whether a call may start its subagent, if it starts one. @returns the reason if it may not. */
    ask(call: ToolCall, signal: StopSignal): Promise<string | undefined> | undefined {
      const child = childOf(call);
      return child && children.ask(child, 'enforce', signal);
    },
    called,
    /** A call has answered: with its subagent's answer, or that the subagent was launched. */
    answered: (toolCallId: string, isError: boolean) => children.answered(toolCallId, isError),
    /** Dispatches a fact when those before it have been dispatched. Never rejects. */
    report(fact: SubagentFact): Promise<void> {
      const telling = (waiting ?? Promise.resolve())
        .then(() => dispatch(fact))
        .catch((error: unknown) =>
          logger.error(`${fact.kind} was not dispatched`, { runId, error }),
        )
        .then(() => {
          if (waiting === telling) waiting = undefined;
        });
      waiting = telling;
      return telling;
    },
    /** Returns the subagents of the main thread among these runs. */
    answering: (childRunIds: readonly string[]) => children.answering(childRunIds),
    /** Ends the run: dispatches the facts that wait, and ends each subagent that still runs. */
    close: (): Promise<void> | undefined =>
      inOrder(
        () => waiting,
        () => children.close(),
      ),
  };
}
