import type { AgentTurnCallbacks } from '../agent/index.js';
import type { SendReport } from './message-end.js';
import type { Reply } from './reply.js';
import type { ReplyOptions } from './reply-options.js';

/** What was sent in a turn. */
export interface TurnSends {
  readonly all: readonly SendReport[];
  /** Those that say what the agent answered: without what its tools and its reasoning showed. */
  readonly answers: readonly SendReport[];
}

type Payload = Partial<Parameters<NonNullable<AgentTurnCallbacks['onBlockReply']>>[0]> &
  Pick<Parameters<NonNullable<AgentTurnCallbacks['onToolResult']>>[0], 'channelData'>;

/** What an agent writes that has nothing to say. */
const nothingToSay = 'NO_REPLY';

/**
 * Sends what an agent says, while its turn goes on: each block as a message of its own, whole, and before a tool runs.
 * The last block is held back until the turn has ended, so that it goes out as the reply, and the others as parts of one.
 */
export class TurnReplies {
  readonly #send: (reply: Reply) => Promise<SendReport>;
  readonly #options: ReplyOptions;
  /** What is not sent yet: at most one block, first, and what reasoning came after it. */
  #held: Reply[] = [];
  #reasoning = '';
  #hasEnded = false;
  #sending: Promise<void> = Promise.resolve();
  readonly #all: SendReport[] = [];
  readonly #answers: SendReport[] = [];
  #failure: { readonly error: unknown } | undefined;

  constructor(options: ReplyOptions, send: (reply: Reply) => Promise<SendReport>) {
    this.#options = options;
    this.#send = send;
  }

  /** What the turn is to call. */
  get callbacks(): AgentTurnCallbacks {
    const streamsReasoning = this.#options.reasoningMode === 'stream';
    return {
      blockReplyBreak: 'message_end', // each message of the agent is a reply of its own
      ...this.#options,
      order: 'seed', // a block is handed over before the flush that is to send it
      onBlockReply: (payload) => this.#block(payload),
      onBlockReplyFlush: () => this.#flush(),
      onAgentEvent: ({ stream, data: { phase } }) => {
        if (stream === 'lifecycle') this.#hasEnded = phase !== 'start'; // another attempt starts anew
      },
      onToolResult: (payload) => {
        this.#release();
        this.#queue(replyOf(payload, 'tool-output'));
      },
      ...(streamsReasoning && {
        onReasoningStream: ({ text }) => {
          this.#reasoning = text;
        },
        onReasoningEnd: () => {
          if (this.#endReasoning()) this.#release(); // the message goes on: what is held is not its last
        },
      }),
    };
  }

  /**
   * Sends what was held back, unless nobody wants it any more, and waits for all of it.
   *
   * @throws what a dispatch of a send has thrown: a closed kernel, say.
   */
  async end(how: { readonly isWanted: boolean }): Promise<TurnSends> {
    this.#endReasoning();
    const last = this.#held.findIndex(({ kind }) => kind === 'block');
    const held = this.#held.map((one, at) =>
      at === last ? { ...one, kind: 'reply' as const } : one,
    );
    this.#held = [];
    if (how.isWanted) for (const one of held) this.#queue(one);
    await this.#sending;
    if (this.#failure !== undefined) throw this.#failure.error;
    return { all: this.#all, answers: this.#answers };
  }

  #block(payload: Payload): void {
    if (payload.isReasoning === true) {
      this.#hold(replyOf(payload, 'reasoning'));
      return;
    }
    const block = replyOf(payload, 'block');
    if (block === undefined) return;
    this.#release();
    this.#hold(block);
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
    this.#reasoning = '';
    return this.#hold(replyOf({ text }, 'reasoning'));
  }

  #hold(reply: Reply | undefined): boolean {
    if (reply !== undefined) this.#held.push(reply);
    return reply !== undefined;
  }

  #release(): void {
    for (const one of this.#held.splice(0)) this.#queue(one);
  }

  #queue(reply: Reply | undefined): void {
    if (reply === undefined) return;
    this.#sending = this.#sending.then(async () => {
      if (this.#failure !== undefined) return;
      try {
        const sent = await this.#send(reply);
        this.#all.push(sent);
        if (reply.kind === 'block' || reply.kind === 'reply') this.#answers.push(sent);
      } catch (error) {
        this.#failure = { error }; // told at the end: nobody waits for it before
      }
    });
  }
}

/** A payload as a reply; nothing where there is nothing in it. */
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
    ...(replyToId !== undefined && { replyToId }),
    ...(channelData !== undefined && { metadata: { channelData: { ...channelData } } }),
  };
}
