import type { AssistantMessage } from '@sluice/sdk/stream';
import { type Outcome, previewObstacles } from 'sluice-kernel';
import {
  type Clock,
  definedFields,
  type Logger,
  oneLine,
  type StopSignal,
} from 'sluice-kernel/internal';
import { answerIn, messageOf } from './judged/model-answer.js';
import type { RunProvider } from './run-bounds.js';
import { isSuspended, mustPass, RunFailure } from './run-failure.js';
import type { RunFields } from './run-fields.js';
import type { Trail } from './trail.js';
import type { TranscriptWriter } from './transcript-writer.js';

/** The parts that the answers of a run are judged with. */
interface ModelAnswersOptions {
  readonly trail: Trail;
  readonly run: RunFields;
  readonly writer: Pick<TranscriptWriter, 'write'>;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly signal: StopSignal | undefined;
  readonly provider: () => RunProvider | undefined;
}

/** The answers of the models of one run. Each is judged once, by `agent.llm.returning`, and only if a handler hears it (spec §16.32). */
export class ModelAnswers {
  readonly #options: ModelAnswersOptions;
  readonly #judged = new WeakMap<AssistantMessage, Promise<AssistantMessage>>();
  /** The ids of the calls of the run. */
  readonly #callIds = new Set<string>();

  constructor(options: ModelAnswersOptions) {
    this.#options = options;
  }

  /**
   * Returns whether nothing of an answer may be shown before it is judged.
   *
   * @param showsWhole parts of it that were shown are put right when it is whole.
   */
  holds(showsWhole: boolean): boolean {
    const hearers = this.#hearers;
    if (hearers.length === 0) return false;
    const known: Readonly<Record<string, unknown>> = { ...this.#options.run };
    const judges = showsWhole ? hearers : hearers.map((one) => ({ ...one, previewOk: false }));
    const possible = (key: string) => (known[key] === undefined ? undefined : [known[key]]);
    return previewObstacles(judges, possible).length > 0;
  }

  /**
   * Judges a whole message of a model. Asked again, it gives the same.
   *
   * @param streaming parts of it were shown.
   * @returns the message that may be used: itself if nobody judges it.
   * @throws RunFailure `stage-failed`.
   */
  returning(
    message: AssistantMessage,
    streaming: boolean,
  ): AssistantMessage | Promise<AssistantMessage> {
    const known = this.#judged.get(message);
    if (known !== undefined || this.#hearers.length === 0) return known ?? message;
    const judging = this.holds(false)
      ? this.#judge(message, streaming)
      : this.#tell(message, streaming).then(() => message);
    this.#judged.set(message, judging);
    const keep = (left: AssistantMessage) => void this.#judged.set(left, judging);
    judging.then(keep, () => undefined); // an asker that has gone does not hear it
    return judging;
  }

  /** Tells of a message whose provider asks nobody. Nothing if there is nothing to wait for. */
  observed(message: AssistantMessage): Promise<unknown> | undefined {
    const provider = this.#options.provider();
    const isTold = provider !== undefined && provider.modelGate !== 'enforce';
    if (!isTold || message.providerError !== undefined || this.#hearers.length === 0)
      return undefined;
    return this.#tell(message, true);
  }

  /** Tells of a message that nobody can change any more, or wants to: also after an abort. Never rejects. */
  async #tell(message: AssistantMessage, streaming: boolean): Promise<void> {
    try {
      await this.#dispatch(message, { gate: 'observe-only', streaming });
    } catch (error) {
      const { agentId, runId } = this.#options.run;
      this.#options.logger.error('an answer could not be told', { agentId, runId, error });
    }
  }

  /** Writes a placeholder for a message that was kept back. Nothing is written of a run that is suspended: it is asked again. */
  async withhold({ provider, model }: AssistantMessage, why: unknown): Promise<void> {
    const { writer, clock, signal } = this.#options;
    if (isSuspended(signal)) return;
    const code = why instanceof RunFailure ? why.cancel?.code : undefined;
    const failed = signal?.aborted ? 'the run was stopped' : 'a handler that guards answers failed';
    const text = `[withheld: ${code ?? failed}]`;
    const by = { ...definedFields({ provider, model }), timestamp: clock.now() };
    await writer.write({ role: 'assistant', content: [{ type: 'text', text }], ...by });
  }

  get #hearers() {
    return this.#options.trail.kernel.plan('agent.llm.returning');
  }

  async #judge(message: AssistantMessage, streaming: boolean): Promise<AssistantMessage> {
    let outcome: Outcome<'agent.llm.returning'>;
    try {
      const { signal } = this.#options;
      outcome = await this.#dispatch(message, { gate: 'enforce', streaming }, signal);
    } catch (error) {
      throw new RunFailure('stage-failed', `the answer could not be judged: ${oneLine(error)}`);
    }
    mustPass(outcome);
    const { payload, event } = outcome;
    for (const { toolCallId } of event.payload.calls) this.#callIds.add(toolCallId);
    return payload === event.payload ? message : messageOf(message, payload, this.#callIds);
  }

  #dispatch(
    message: AssistantMessage,
    how: { readonly gate: 'enforce' | 'observe-only'; readonly streaming: boolean },
    signal?: StopSignal,
  ) {
    const { trail, run } = this.#options;
    const { id = '', model = '' } = this.#options.provider() ?? {};
    const { gate, streaming } = how;
    const by = { provider: id, model: message.model ?? model };
    return trail.dispatch(
      'agent.llm.returning',
      { ...answerIn(message), streaming, ...by, ...run },
      { gate, ...definedFields({ signal }) },
    );
  }
}
