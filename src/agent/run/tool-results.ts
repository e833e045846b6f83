import type { AgentToolResult, ToolCall } from '@sluice/sdk/stream';
import { definedFields, type Gate, type Outcome, type StopSignal } from 'sluice-kernel/internal';
import type { ActiveCall } from './judged/active-call.js';
import { answerOf, withheld } from './judged/tool-result.js';
import type { RunFields } from './run-fields.js';
import type { Trail } from './trail.js';

/** The results of the tools of one run, and `agent.tool.returning` that judges them (spec §16.31). */
export class ToolResults {
  readonly #trail: Trail;
  readonly #run: RunFields;
  readonly #signal: StopSignal | undefined;

  constructor(trail: Trail, run: RunFields, signal: StopSignal | undefined) {
    this.#trail = trail;
    this.#run = run;
    this.#signal = signal;
  }

  /** Somebody hears of results. */
  get areHeard(): boolean {
    return this.#hearers.length > 0;
  }

  /** Somebody judges results: a part of one must not be shown before the whole. */
  get areJudged(): boolean {
    return this.#hearers.some(
      ({ class: name, policy, mode, disabled }) =>
        !disabled &&
        mode === 'enforce' &&
        (name === 'mutator' || name === 'veto' || policy === 'closed'),
    );
  }

  /**
   * Gives a result as the stage leaves it. A stop of the run keeps it back only if somebody judges it. Never rejects.
   *
   * @param left gives the result of a stage that has passed.
   */
  async judge(
    active: ActiveCall,
    result: AgentToolResult,
    left: (passed: Outcome<'agent.tool.returning'>) => AgentToolResult = answerOf,
  ): Promise<AgentToolResult> {
    const signal = this.areJudged ? this.#signal : undefined;
    const why = () => (signal?.aborted ? 'the run was stopped' : undefined);
    try {
      const outcome = await this.tell(active, result, 'enforce', signal);
      return outcome.status === 'passed' ? left(outcome) : answerOf(outcome, why());
    } catch {
      return withheld(why());
    }
  }

  /** Dispatches a result. */
  tell(
    { call, params }: ActiveCall,
    { content, details, isError }: AgentToolResult,
    gate: Gate,
    signal?: StopSignal,
  ) {
    const { toolName, toolCallId } = call;
    const result = { content: [...content], isError, ...definedFields({ structured: details }) };
    return this.#trail.dispatch(
      'agent.tool.returning',
      { toolName, toolCallId, params, result, ...this.#run },
      { gate, ...whose(call), ...definedFields({ signal }) },
    );
  }

  get #hearers() {
    return this.#trail.kernel.plan('agent.tool.returning');
  }
}

/** The metadata of a call that a subagent makes. */
export function whose({ subagentId }: ToolCall) {
  return subagentId === undefined ? {} : { metadata: { subagentId } };
}
