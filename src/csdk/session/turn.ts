import type { AssistantMessage, ProviderError, StopReason } from '../../stream/index.js';
import { textOf } from '../../stream/index.js';
import type { CsdkMessage } from '../frames/frame.js';
import { type MessageSink, OpenMessage } from './open-message.js';

/**
 * Where the main lane is in its turn, one API message each (csdk §2). Narrow by `state`.
 *
 * - `none`: no message is open.
 * - `announced`: a `message_start` came. Nothing is shown: an attempt may be given up before it has content.
 * - `streaming`: it comes as deltas; its complete frames confirm them.
 * - `assembling`: it comes as complete frames only.
 */
export type Turn =
  | { readonly state: 'none' }
  | { readonly state: 'announced'; readonly start: CsdkMessage }
  | { readonly state: 'streaming'; readonly message: OpenMessage }
  | { readonly state: 'assembling'; readonly message: OpenMessage };

const none: Turn = { state: 'none' };

/** The turns of the main lane: at most one is open, and none opens twice. */
export class Turns {
  /** The messages that have ended. */
  readonly messages: AssistantMessage[] = [];
  readonly #sink: MessageSink;
  readonly #onClosed: () => void;
  readonly #closedIds = new Set<string>();
  #turn: Turn = none;

  /** @param onClosed is called after each `message_end`. */
  constructor(sink: MessageSink, onClosed: () => void) {
    this.#sink = sink;
    this.#onClosed = onClosed;
  }

  /** The message that is open, whichever way it comes. */
  get open(): OpenMessage | undefined {
    const turn = this.#turn;
    return turn.state === 'streaming' || turn.state === 'assembling' ? turn.message : undefined;
  }

  /** Whether a message is open or announced. */
  get isOpen(): boolean {
    return this.#turn.state !== 'none';
  }

  /** A `message_start`. One for the message that is open says nothing new; one for a closed id opens nothing. */
  announce(start: CsdkMessage): void {
    if (this.open !== undefined && start.id !== '' && this.open.id === start.id) return;
    this.displace();
    if (!this.#closedIds.has(start.id)) this.#turn = { state: 'announced', start };
  }

  /** The message that streams, opened now if it was only announced. Nothing where no message streams. */
  streaming(providerError?: ProviderError): OpenMessage | undefined {
    if (this.#turn.state === 'announced')
      this.#turn = {
        state: 'streaming',
        message: new OpenMessage(this.#turn.start, this.#sink, providerError),
      };
    return this.#turn.state === 'streaming' ? this.#turn.message : undefined;
  }

  /**
   * The message that a complete frame belongs to. Nothing for one that has ended: it never opens again.
   *
   * @param providerError what the frame tells in the place of an answer; a message that it opens is marked with it.
   */
  assembling(frame: CsdkMessage, providerError?: ProviderError): OpenMessage | undefined {
    if (this.#closedIds.has(frame.id)) return undefined;
    if (this.#turn.state === 'announced' && this.#turn.start.id === frame.id)
      return this.streaming(providerError);
    if (this.open?.id === frame.id && frame.id !== '') return this.open;
    this.displace();
    this.#turn = {
      state: 'assembling',
      message: new OpenMessage(frame, this.#sink, providerError),
    };
    return this.#turn.message;
  }

  /** Whether the open message comes as complete frames only. */
  get isAssembling(): boolean {
    return this.#turn.state === 'assembling';
  }

  /** Something else takes the place of the turn: a message that streams was cut off, an announced one never was. */
  displace(): void {
    if (this.#turn.state === 'streaming') this.close('aborted');
    else this.close();
  }

  /** Ends the message that is open. */
  close(reason?: StopReason, errorMessage?: string): void {
    const message = this.open;
    this.#turn = none;
    if (message === undefined) return;
    if (message.id !== '') this.#closedIds.add(message.id);
    this.messages.push(message.end(reason, errorMessage));
    this.#onClosed();
  }

  /** What the last message said went wrong; nothing where it ended well. */
  get lastError(): string | undefined {
    const last = this.messages.at(-1);
    if (last?.stopReason !== 'error') return undefined;
    return last.errorMessage ?? textOf(last);
  }
}
