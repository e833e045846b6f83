import type { Gate } from '../../kernel/index.js';
import type { ChildCall, ChildRuns, RunDispatcher, ToolCall } from '../../stream/index.js';
import { isFields, textField } from '../frame.js';
import type { SubagentFact } from './subagent-fact.js';

/** The agent that the SDK takes where a call names none. */
const defaultAgent = 'general-purpose';

/** The subagents of one run of the SDK: that they come and go, and the tools that they call. */
export class Subagents {
  readonly #run: RunDispatcher;
  readonly #children: ChildRuns;
  readonly #gate: Gate;
  /** Their calls that were seen, and which have ended: frames may come twice. */
  readonly #calls = new Map<string, 'runs' | 'ended'>();

  constructor(run: RunDispatcher, children: ChildRuns, gate: Gate) {
    this.#run = run;
    this.#children = children;
    this.#gate = gate;
  }

  /** Asks whether a call may start its subagent, if it starts one. @returns why not. */
  async ask(call: ToolCall, signal: AbortSignal): Promise<string | undefined> {
    const child = childOf(call);
    return child && this.#children.ask(child, 'enforce', signal);
  }

  /** A call was seen, in the main thread or of a subagent. */
  async called(call: ToolCall): Promise<void> {
    const child = childOf(call);
    if (child === undefined) return;
    this.#children.called(child);
    if (this.#gate === 'observe-only') await this.#children.ask(child, 'observe-only');
  }

  /** A call has answered: with its subagent's answer, or that it was launched. */
  answered(toolCallId: string, result: unknown, isError: boolean): Promise<void> {
    const launched = isFields(result) && textField(result, 'status') === 'async_launched';
    return this.#children.answered(toolCallId, isError, launched);
  }

  async tell(fact: SubagentFact): Promise<void> {
    switch (fact.kind) {
      case 'child_runs':
        return this.#children.runs({ ...fact.child, agentId: fact.child.agentId ?? defaultAgent });
      case 'child_stopped':
        return this.#children.stopped(fact.childRunId);
      case 'child_ended':
        return this.#children.ended(fact.childRunId, fact.status, fact.error);
      case 'tool_started': {
        const { call } = fact;
        if (this.#calls.has(call.toolCallId)) return;
        this.#calls.set(call.toolCallId, 'runs');
        await this.#run.toolStarted(call);
        return this.called(call);
      }
      case 'tool_ended': {
        const { toolCallId, result, isError } = fact.end;
        if (this.#calls.get(toolCallId) === 'ended') return;
        this.#calls.set(toolCallId, 'ended');
        await this.answered(toolCallId, result, isError);
        return this.#run.toolEnded(fact.end);
      }
    }
  }
}

/** The subagent that a call starts: the SDK's tool for it has had two names. */
function childOf({ toolCallId, toolName, args, subagentId }: ToolCall): ChildCall | undefined {
  if (toolName !== 'Agent' && toolName !== 'Task') return undefined;
  const label = textField(args, 'description');
  return {
    toolCallId,
    agentId: textField(args, 'subagent_type') ?? defaultAgent,
    isBackground: args.run_in_background === true,
    ...(label !== undefined && { label }),
    ...(subagentId !== undefined && { subagentId }),
  };
}
