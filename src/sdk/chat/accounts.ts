import { setMaxListeners } from 'node:events';
import type { Clock, Logger } from 'sluice-kernel';
import {
  type ChannelInbox,
  type ChannelPlugin,
  checkedPermits,
  checkPermit,
} from '../channel/index.js';
import { sendMessage } from './send/send-message.js';
import type { ChatSurface } from './send/surface.js';
import { chatPreviews } from './stream/previews.js';
import { chatStreamSender } from './stream/stream-sender.js';

/**
 * The accounts of a channel that are connected, and what goes out by them.
 *
 * @example
 * const accounts = new ChatAccounts<Bot>();
 * const sends = accounts.outgoing(surface, { clock, log, isStreaming: true });
 * const channel: ChannelPlugin = { ...rest, ...sends };
 */
export class ChatAccounts<Account> {
  readonly #connected = new Map<string, Account>();
  #closing = new AbortController();
  #host: ChannelInbox | undefined; // each account has the same host

  /** Finds an account that is connected. */
  get(accountId: string): Account | undefined {
    return this.#connected.get(accountId);
  }

  /** Connects an account. One that was stopped may start again. */
  async start(
    accountId: string,
    inbox: ChannelInbox,
    connect: () => Promise<Account>,
  ): Promise<void> {
    this.#host = inbox;
    if (this.#connected.size === 0) {
      this.#closing = new AbortController();
      setMaxListeners(0, this.#closing.signal); // each send that waits listens to it
    }
    this.#connected.set(accountId, await connect());
  }

  /** Takes an account off. After the last, nothing that goes out is waited for. @returns the account. */
  stop(accountId: string): Account | undefined {
    const account = this.#connected.get(accountId);
    this.#connected.delete(accountId);
    if (this.#connected.size === 0) this.#closing.abort();
    return account;
  }

  /** Makes the methods of a channel by which messages go out: whole, while they grow, and where a crash has left them. */
  outgoing<Part>(
    surface: ChatSurface<Part>,
    how: { readonly clock: Clock; readonly log: Logger; readonly isStreaming: boolean },
  ): Pick<ChannelPlugin, 'send' | 'createStreamSender' | 'previews'> {
    const { clock, log, isStreaming } = how;
    const closing = (): AbortSignal => this.#closing.signal;
    const inbox = (): ChannelInbox | undefined => this.#host;
    const parts = {
      ...{ surface, clock, log, inbox },
      get signal() {
        return closing();
      },
    };
    return {
      send: async (permit, { signal }) => {
        checkPermit(permit, inbox());
        return sendMessage(
          { surface, clock, signal: AbortSignal.any([closing(), signal]) },
          permit,
        );
      },
      ...(isStreaming && {
        createStreamSender: (permits) => chatStreamSender(parts, checkedPermits(permits, inbox())),
      }),
      // also where nothing is streamed any more: a host before this one may have
      previews: chatPreviews(parts),
    };
  }
}
