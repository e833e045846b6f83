import { cutOff, type Trail } from '@sluice/agent';
import type { SendReport } from '@sluice/journal';
import { type AgentTrigger, hasReachedAgent, type StreamDelta } from '@sluice/sdk/stream';
import { definedFields, oneLine, type StopSignal } from 'sluice-kernel/internal';
import type { OutgoingMessage } from '../egress/prepare-send.js';
import type { SendParts } from '../parts/parts.js';
import { StreamedReply } from './streamed-reply.js';

/** The address of an answer, and how it is sent. */
export interface StreamDelivery {
  readonly parts: SendParts;
  readonly trail: Trail;
  readonly trigger: AgentTrigger;
  readonly message: Omit<OutgoingMessage, 'content' | 'kind'>;
  readonly reasoning: 'off' | 'stream';
  readonly signal: StopSignal;
}

/** How an answer was heard, and what was sent of it. */
export interface Heard {
  readonly status: 'ended' | 'failed' | 'aborted';
  readonly reason?: string;
  /** The agent may have worked on it. */
  readonly reachedAgent: boolean;
  readonly all: readonly SendReport[];
  /** Without what it thought, and what was taken back. */
  readonly answers: readonly SendReport[];
}

/** The growing parts of one answer: first thoughts, then a text. Late thoughts are not shown: they would stand after it. */
class GrowingAnswer {
  readonly all: SendReport[] = [];
  readonly answers: SendReport[] = [];
  readonly #delivery: StreamDelivery;
  readonly #isShown: boolean;
  #thoughts: StreamedReply | undefined;
  #thought = '';
  #text: StreamedReply | undefined;

  constructor(delivery: StreamDelivery, isShown: boolean) {
    this.#delivery = delivery;
    this.#isShown = isShown;
  }

  think({ thinking, thinkingElapsedMs }: StreamDelta & { phase: 'thinking' }): void {
    if (this.#delivery.reasoning === 'off' || this.#text !== undefined) return;
    if (this.#thoughts === undefined && thinking.trim() === '') return;
    this.#thoughts ??= this.#begin('reasoning');
    this.#thought = thinking;
    if (this.#isShown) this.#thoughts.show(thinking, thinkingElapsedMs);
  }

  async say({ content }: StreamDelta & { phase: 'content' }): Promise<void> {
    await this.#finishThoughts();
    this.#text ??= this.#begin('reply');
    if (this.#isShown && content.trim() !== '') this.#text.show(content);
  }

  async finish({ content }: StreamDelta & { phase: 'final' }): Promise<void> {
    await this.#finishThoughts();
    const text = this.#text ?? this.#begin('reply');
    this.#text = undefined;
    if (content.trim() === '') return this.#keep(await text.withdraw('withdrawn'));
    const sent = await text.finish({ kind: 'reply', content });
    this.all.push(sent);
    this.answers.push(sent);
  }

  /** Ends what grows, without a final. */
  async stop(error: string | undefined): Promise<void> {
    for (const reply of [this.#thoughts, this.#text])
      this.#keep(error === undefined ? await reply?.withdraw('aborted') : await reply?.fail(error));
    this.#thoughts = this.#text = undefined;
  }

  async #finishThoughts(): Promise<void> {
    const thoughts = this.#thoughts;
    this.#thoughts = undefined;
    this.#keep(await thoughts?.finish({ kind: 'reasoning', content: this.#thought }));
  }

  #begin(kind: 'reply' | 'reasoning'): StreamedReply {
    const { parts, trail, message, signal } = this.#delivery;
    return new StreamedReply({ parts, trail, message: { ...message, kind }, signal });
  }

  #keep(report: SendReport | undefined): void {
    if (report !== undefined) this.all.push(report);
  }
}

/**
 * Hears an answer as it grows, and delivers it. Whatever ends it, nothing is left growing, and the stream is told to let go.
 *
 * @param isShown its parts are shown; else it goes out whole.
 * Never rejects.
 */
export async function hearStream(
  ask: (trigger: AgentTrigger) => AsyncGenerator<StreamDelta>,
  delivery: StreamDelivery,
  isShown: boolean,
): Promise<Heard> {
  const { trigger, signal, parts } = delivery;
  const growing = new GrowingAnswer(delivery, isShown);
  const { all, answers } = growing;
  let hasBegun = false;
  let isOver = false;
  let problem: string | undefined;
  let reachedAgent = true;
  try {
    for await (const delta of cutOff(ask(trigger), signal)) {
      if (delta.phase === 'thinking') growing.think(delta);
      else if (delta.phase === 'content') await growing.say(delta);
      else {
        isOver = true;
        if (delta.phase === 'final') await growing.finish(delta);
        else {
          problem = delta.error;
          reachedAgent = hasReachedAgent(delta);
        }
        break;
      }
      hasBegun = true;
    }
    if (hasBegun && !isOver) problem = 'the stream ended without a final';
  } catch (error) {
    problem = oneLine(error); // a stream says what went wrong, and does not throw: nobody knows how far it came
    parts.logger.error('an agent threw while it streamed', { error });
  }
  const reason = signal.aborted ? undefined : problem;
  await growing.stop(reason);
  const ended = reason === undefined ? 'ended' : 'failed';
  const status = signal.aborted ? 'aborted' : ended;
  return { status, ...definedFields({ reason }), reachedAgent, all, answers };
}
