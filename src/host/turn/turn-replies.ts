import type { AgentTurnCallbacks } from '@sluice/agent';
import type { SendReport } from '@sluice/journal';
import { definedFields } from 'sluice-kernel/internal';
import type { Reply } from '../egress/reply.js';
import type { ReplyOptions } from '../parts/options.js';
import type { StreamedReply } from '../streaming/streamed-reply.js';
import type { ReplySink } from './reply-sink.js';
import { saysTheSame, unsaid } from './unsaid.js';

type Payload = Partial<Parameters<NonNullable<AgentTurnCallbacks['onBlockReply']>>[0]> &
  Pick<Parameters<NonNullable<AgentTurnCallbacks['onToolResult']>>[0], 'channelData'>;

/** A reply that waits for its turn, and what was shown of it while it grew. */
interface Held {
  readonly reply: Reply;
  readonly growing: StreamedReply | undefined;
}

/** A text that grows: `undefined` before anybody has asked whether it may be shown, `null` where it may not. */
type Growing = StreamedReply | null | undefined;

type ShownOptions = ReplyOptions & Pick<AgentTurnCallbacks, 'wording'>;

type Work = () => Promise<readonly SendReport[] | SendReport | undefined>;

/** The words of an agent that has nothing to say. */
const nothingToSay = 'NO_REPLY';

/**
 * Sends what an agent says, while its turn goes on: each block as a message of its own, whole, and before a tool runs.
 * If the channel can show a reply that grows, the text of a message is shown while it does, and so is reasoning in
 * mode `stream`; as a block it is then finished. The last block is held back until the turn has ended, so that it goes
 * out as the reply, and the others as parts of one.
 */
export class TurnReplies {
  /** The place where the message came from. */
  readonly #home: ReplySink;
  #sink: ReplySink;
  readonly #options: ShownOptions;
  /** A message is one block: only then its text, as it grows, is that of the block that it becomes. */
  readonly #isOneBlock: boolean;
  /** The replies that are not sent yet: at most one block, first, and the reasoning after it. */
  #held: Held[] = [];
  #text: Growing;
  #thoughts: Growing;
  #reasoning = '';
  /** The text of the message so far, and the pieces of it that went out: before a tool of the model's provider, say. */
  #whole = '';
  #pieces: string[] = [];
  #hasEnded = false;
  #sending: Promise<void> = Promise.resolve();
  readonly #all: SendReport[] = [];
  readonly #answers: SendReport[] = [];
  #failure: { readonly error: unknown } | undefined;

  constructor(options: ShownOptions, sink: ReplySink) {
    this.#options = options;
    this.#home = sink;
    this.#sink = sink;
    const { blockReplyBreak = 'message_end', blockReplyChunking } = options;
    this.#isOneBlock = blockReplyBreak === 'message_end' && blockReplyChunking === undefined;
  }

  /** The callbacks for the turn. */
  get callbacks(): AgentTurnCallbacks {
    const streamsReasoning = this.#options.reasoningMode === 'stream';
    return {
      blockReplyBreak: 'message_end', // each message of the agent is a reply of its own
      ...this.#options,
      onAssistantMessageStart: () => this.#startMessage(),
      ...(this.#isOneBlock && { onPartialReply: ({ text }) => this.#partial(text) }),
      onBlockReply: (payload) => this.#block(payload),
      onBlockReplyFlush: () => this.#flush(),
      onAnswered: () => this.#conclude(),
      onSubagentAnswers: (answers) =>
        this.#moveTo(answers.length === 0 ? this.#home : this.#home.delivering(answers)),
      onAgentEvent: ({ stream, data: { phase } }) => {
        if (stream !== 'lifecycle') return;
        this.#hasEnded = phase !== 'start'; // another attempt starts anew
        if (phase === 'start') this.#moveTo(this.#home);
      },
      onToolResult: (payload) => {
        this.#release();
        this.#send(replyOf(payload, 'tool-output'));
      },
      ...(streamsReasoning && {
        onReasoningStream: ({ text }) => {
          this.#reasoning = text;
          if (this.#thoughts === undefined) this.#thoughts = this.#grow('reasoning');
          this.#thoughts?.show(text);
        },
        onReasoningEnd: () => {
          if (this.#endReasoning()) this.#release(); // the message goes on: what is held is not its last
        },
      }),
    };
  }

  /**
   * Sends what was held back, unless nobody wants it any more, and waits for all of it. What was shown and is not sent
   * is taken back.
   *
   * @returns all sends, and those that say what the agent answered, without what its tools and its reasoning showed.
   * @throws what a dispatch of a send has thrown: a closed kernel, say.
   */
  async end(how: { readonly isWanted: boolean }) {
    if (how.isWanted) this.#conclude();
    this.#endReasoning();
    for (const { growing } of this.#held.splice(0)) this.#withdraw(growing, 'aborted');
    this.#withdraw(this.#text, how.isWanted ? 'withdrawn' : 'aborted');
    await this.#sending;
    if (this.#failure !== undefined) throw this.#failure.error;
    return { all: this.#all, answers: this.#answers };
  }

  /** An answer is whole: what was held back goes out, its last block as the reply. */
  #conclude(): void {
    this.#endReasoning();
    const last = this.#held.findIndex(({ reply }) => reply.kind === 'block');
    for (const [at, { reply, growing }] of this.#held.splice(0).entries())
      this.#send(at === last ? { ...reply, kind: 'reply' } : reply, growing);
  }

  /** A message begins. What was shown of one before that came to nothing is taken back. */
  #startMessage(): void {
    this.#withdraw(this.#text, 'withdrawn');
    this.#text = undefined;
    this.#whole = '';
    this.#pieces = [];
  }

  #partial(text: string): void {
    this.#whole = text;
    const shown = this.#pieces.length === 0 ? text : unsaid(text, this.#pieces);
    if (nothingToSay.startsWith(shown.trim())) return; // it may become that, or nothing is new
    if (this.#text === undefined) this.#text = this.#grow('block');
    this.#text?.show(shown);
  }

  /** Begins to show a reply. What was held back is not the last, then, and goes out before it. */
  #grow(kind: 'block' | 'reasoning'): StreamedReply | null {
    if (!this.#sink.mayGrow()) return null;
    this.#release();
    return this.#sink.grow(kind, this.#sending);
  }

  #block(payload: Payload): void {
    if (payload.isReasoning === true) {
      this.#hold(replyOf(payload, 'reasoning'), undefined);
      return;
    }
    const block = replyOf(this.#withoutPieces(payload), 'block');
    if (block === undefined) return; // what was shown of it is taken back when the next message begins
    this.#release();
    this.#hold(block, this.#text);
    this.#text = undefined;
  }

  /**
   * The callbacks hand over what was said before a tool, as a piece, and at the end the whole message: a piece that went out is
   * not sent again.
   */
  #withoutPieces(payload: Payload): Payload {
    const { text = '' } = payload;
    if (!this.#isOneBlock || text === '') return payload;
    if (this.#pieces.length > 0 && saysTheSame(text, this.#whole))
      return { ...payload, text: unsaid(text, this.#pieces) };
    this.#pieces.push(text);
    return payload;
  }

  /** Before a tool everything is sent; the flush at the end of a run leaves the last block for `end`. */
  async #flush(): Promise<void> {
    if (this.#hasEnded) return;
    this.#release();
    await this.#sending;
  }

  /** Reasoning that grew becomes one message when it has ended. @returns whether there was any. */
  #endReasoning(): boolean {
    const text = this.#reasoning;
    const growing = this.#thoughts;
    this.#reasoning = '';
    this.#thoughts = undefined;
    return this.#hold(replyOf({ text }, 'reasoning'), growing);
  }

  #hold(reply: Reply | undefined, growing: Growing): boolean {
    if (reply === undefined) this.#withdraw(growing, 'withdrawn');
    else this.#held.push({ reply, growing: growing ?? undefined });
    return reply !== undefined;
  }

  /** From here on, replies go to another place. What was held back goes to the one before. */
  #moveTo(sink: ReplySink): void {
    if (sink === this.#sink) return;
    this.#release();
    this.#sink = sink;
  }

  #release(): void {
    for (const { reply, growing } of this.#held.splice(0)) this.#send(reply, growing);
  }

  #send(reply: Reply | undefined, growing?: StreamedReply): void {
    if (reply === undefined) return;
    const isAnswer = reply.kind === 'block' || reply.kind === 'reply';
    const sink = this.#sink; // another one may be there when it is sent
    const send: Work = () => (growing ? growing.finish(reply) : sink.send(reply));
    this.#queue(isAnswer, send, growing && (() => growing.withdraw('aborted')));
  }

  #withdraw(growing: Growing, why: 'aborted' | 'withdrawn'): void {
    if (growing == null) return;
    const withdraw = () => growing.withdraw(why);
    this.#queue(false, withdraw, withdraw);
  }

  /** @param otherwise is done instead where a send before has failed to be dispatched. */
  #queue(isAnswer: boolean, work: Work, otherwise?: Work): void {
    this.#sending = this.#sending.then(async () => {
      try {
        const sent = [(await (this.#failure === undefined ? work : otherwise)?.()) ?? []].flat();
        this.#all.push(...sent);
        if (isAnswer) this.#answers.push(...sent);
      } catch (error) {
        this.#failure ??= { error }; // told at the end: nobody waits for it before
      }
    });
  }
}

/** Makes a reply of a payload; nothing if the payload is empty. */
function replyOf(payload: Payload, kind: Reply['kind']): Reply | undefined {
  const { text = '', mediaUrls = [], audioAsVoice, replyToId, channelData } = payload;
  const content = text.trim() === nothingToSay ? '' : text;
  if (content.trim() === '' && mediaUrls.length === 0) return undefined;
  return {
    kind,
    content,
    attachments: mediaUrls.map((url) => ({
      kind: 'other',
      url,
      ...(audioAsVoice === true && { asVoice: true }),
    })),
    ...definedFields({ replyToId }),
    ...(channelData !== undefined && { metadata: { channelData: { ...channelData } } }),
  };
}
