import type { AgentRequest, SessionEvent } from '@sluice/sdk/stream';
import { inOrder } from '@sluice/sdk/stream/internal';
import { definedFields } from 'sluice-kernel/internal';
import { untilCut } from './cut-off.js';
import type { JudgedAnswers } from './judged-answers.js';
import type { AttemptScope } from './turn-fields.js';
import type { turnListener } from './turn-listener.js';

/** Takes the events of an attempt: their dispatches and their callbacks, in the order of the live system (spec §16.7). */
export class AttemptEvents {
  /** Absent if what the model says can only be observed. */
  answers: JudgedAnswers | undefined;
  readonly #scope: AttemptScope;
  readonly #listener: ReturnType<typeof turnListener>;
  #isAsked: boolean;
  #toolCalls = 0;
  #isCompacted = false;
  #telling: Promise<void> | undefined;

  /** @param isAsked the prompt is in the transcript. */
  constructor(scope: AttemptScope, listener: ReturnType<typeof turnListener>, isAsked: boolean) {
    this.#scope = scope;
    this.#listener = listener;
    this.#isAsked = isAsked;
  }

  /** The calls of tools that have begun. */
  get toolCalls(): number {
    return this.#toolCalls;
  }

  /** It was asked for a compaction alone. */
  get isCompacted(): boolean {
    return this.#isCompacted;
  }

  /**
   * One event: its dispatches and its callbacks, in the order of the live system (spec §16.7). What grows is dispatched
   * first, as an agent event is emitted before its callbacks; of all else the callbacks hear before the hooks.
   */
  take(event: SessionEvent): Promise<void> | undefined {
    if (this.answers !== undefined && !this.#isAsked && event.type !== 'agent_start')
      return this.#takeAsked(event);
    const left = this.answers?.left(event);
    if (left === undefined) return this.#takeOne(event);
    return Array.isArray(left) && left.length === 0 ? undefined : this.#takeAll(left);
  }

  /** The prompt stands before what becomes of a message that is kept back. */
  async #takeAsked(event: SessionEvent): Promise<void> {
    await this.wait(this.ask());
    await this.take(event);
  }

  async #takeAll(events: ReturnType<JudgedAnswers['left']>): Promise<void> {
    for (const event of (await untilCut(Promise.resolve(events), this.#scope.cut)) ?? []) {
      const taking = this.#takeOne(event);
      if (taking !== undefined) await taking;
    }
  }

  #takeOne(event: SessionEvent): Promise<void> | undefined {
    if (event.type !== 'message_update' || !this.#isAsked) return this.#takeInOrder(event);
    void this.#scope.run.take(event); // at once: nothing that grows is waited for
    return this.wait(this.#listener.report(event)); // as a rule a piece of a text costs no promise
  }

  #takeInOrder(event: SessionEvent): Promise<void> | undefined {
    const { run } = this.#scope;
    const { type } = event;
    const isFirst = this.#isDispatchedFirst(event);
    const tell = () => this.wait(this.#listener.report(event));
    return inOrder(
      () => (type === 'agent_start' ? undefined : this.wait(this.ask())),
      () => {
        if (type === 'tool_execution_start') this.#toolCalls++;
        if (type === 'auto_compaction_start') this.#isCompacted ||= event.reason === 'manual';
        return type === 'message_update' ? undefined : this.wait(this.#telling);
      },
      isFirst ? () => run.take(event) : tell,
      isFirst ? tell : () => this.wait(run.take(event)),
      () => {
        run.told(event);
        return type === 'agent_start' ? this.wait(this.ask()) : undefined;
      },
    );
  }

  /** Waits, but not longer than the turn may. Nothing to wait for costs nothing. */
  wait(promise: Promise<void> | undefined): Promise<void> | undefined {
    return promise && untilCut(promise, this.#scope.cut);
  }

  #isDispatchedFirst({ type }: SessionEvent): boolean {
    if (type === 'auto_compaction_start') return this.#listener.order === 'seed';
    return type === 'message_update' || type === 'tool_execution_update';
  }

  /** Writes what the agent is asked, once its run has begun. */
  ask(): Promise<void> | undefined {
    if (this.#isAsked) return undefined;
    this.#isAsked = true;
    const { options, surroundings, clock } = this.#scope;
    const { text: content } = options.message;
    const around = definedFields({ surroundings });
    return this.#scope.run.write({ role: 'user', content, ...around, timestamp: clock.now() });
  }

  /**
   * Dispatches the facts of subagents. Before the next event, the callbacks hear which subagents the answer is about.
   */
  readonly tell: AgentRequest['tell'] = (fact) => {
    const { run } = this.#scope;
    const listener = this.#listener;
    const told = run.report(fact);
    if (fact.kind === 'answered') this.#telling = told.then(() => listener.answered());
    if (fact.kind === 'children_answered')
      this.#telling = told.then(() => listener.answered(run.answering(fact.childRunIds)));
  };
}
