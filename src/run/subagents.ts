import { type Clock, definedFields, type Logger } from '../kernel/index.js';
import type { AgentProvider, SubagentAnswer, SubagentFact, ToolCall } from '../stream/index.js';
import type { Approvals } from './approvals.js';
import { type ChildCall, type ChildRuns, childRuns } from './child-runs.js';
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
}

/** The subagents of one run, with the tools that they call. */
export class Subagents {
  /** Tells which subagent a call starts, if it starts one. */
  subagentOf: AgentProvider['subagentOf'];
  readonly #tools: ToolCalls;
  readonly #children: ChildRuns;
  /** The calls of subagents that were seen, with their states: a source may tell of one twice. */
  readonly #calls = new Map<string, 'runs' | 'ended'>();

  readonly #logger: Logger;
  readonly #runId: string;
  #telling: Promise<void> | undefined;

  constructor({ trail, run, session, tools, clock, logger, approvals }: SubagentsOptions) {
    this.#tools = tools;
    this.#children = childRuns(trail, session, clock, { runId: run.runId, approvals });
    this.#logger = logger;
    this.#runId = run.runId;
  }

  /** Settles when every fact so far has been dispatched; `undefined` if none waits. */
  get telling(): Promise<void> | undefined {
    return this.#telling;
  }

  /** Asks whether a call may start its subagent, if it starts one. @returns the reason if it may not. */
  async ask(call: ToolCall, signal: AbortSignal): Promise<string | undefined> {
    const child = this.#childOf(call);
    return child && this.#children.ask(child, 'enforce', signal);
  }

  /** A call was seen, in the main thread or of a subagent. */
  async called(call: ToolCall): Promise<void> {
    const child = this.#childOf(call);
    if (child === undefined) return;
    this.#children.called(child);
    if (this.#tools.toolGate === 'observe-only') await this.#children.ask(child, 'observe-only');
  }

  /** A call has answered: with its subagent's answer, or that the subagent was launched. */
  answered(toolCallId: string, isError: boolean): Promise<void> {
    return this.#children.answered(toolCallId, isError);
  }

  /** Dispatches a fact when those before it have been dispatched. Never rejects. */
  tell(fact: SubagentFact): Promise<void> {
    const telling = (this.#telling ?? Promise.resolve())
      .then(() => this.#tell(fact))
      .catch((error: unknown) =>
        this.#logger.error(`${fact.kind} was not dispatched`, { runId: this.#runId, error }),
      )
      .then(() => {
        if (this.#telling === telling) this.#telling = undefined;
      });
    this.#telling = telling;
    return telling;
  }

  /** Returns the subagents of the main thread among these runs. */
  answering(childRunIds: readonly string[]): readonly SubagentAnswer[] {
    return this.#children.answering(childRunIds);
  }

  /** Ends the run: dispatches the facts that wait, and ends each subagent that still runs. */
  async close(): Promise<void> {
    await this.#telling;
    await this.#children.close();
  }

  async #tell(fact: SubagentFact): Promise<void> {
    switch (fact.kind) {
      case 'child_runs':
        return this.#children.runs(fact.child);
      case 'child_stopped':
        return this.#children.stopped(fact.childRunId);
      case 'child_ended':
        return this.#children.ended(fact.childRunId, fact.status, fact.error);
      case 'tool_started': {
        const { call } = fact;
        if (this.#calls.has(call.toolCallId)) return;
        this.#calls.set(call.toolCallId, 'runs');
        await this.#tools.started(call);
        return this.called(call);
      }
      case 'tool_ended': {
        const { toolCallId, isError } = fact.end;
        if (this.#calls.get(toolCallId) === 'ended') return;
        this.#calls.set(toolCallId, 'ended');
        await this.answered(toolCallId, isError);
        return this.#tools.ended(fact.end);
      }
      case 'answered': // for those who send what is said
      case 'children_answered':
        return;
    }
  }

  #childOf(call: ToolCall): ChildCall | undefined {
    const started = this.subagentOf?.(call);
    if (started === undefined) return undefined;
    const { toolCallId, subagentId } = call;
    return { ...started, toolCallId, ...definedFields({ subagentId }) };
  }
}
