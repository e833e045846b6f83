import type { KeyValues } from '@sluice/sdk/extension';
import type { LegacyReply } from './shapes.js';

/** The kinds of a reply that OpenClaw tells a channel: what a tool showed, a part of the answer, its end. */
export type LegacyReplyKind = 'tool' | 'block' | 'final';

/** A message that a channel of a plugin hands over, and the way back for its replies. */
export interface LegacyInbound {
  readonly channelId: string;
  /** The account as the plugin names it. */
  readonly accountId: string;
  /** The context of the message, as plain data. */
  readonly context: Readonly<Record<string, unknown>>;
  /** Has the plugin deliver one reply. Rejects as its code does. @returns what its code tells of it, from outside. */
  deliver(reply: LegacyReply, kind: LegacyReplyKind): Promise<Readonly<Record<string, unknown>>>;
  /** Tells the plugin that the host has taken the message in: its journal has it. Never rejects. */
  onTaken(): Promise<void>;
}

/** Takes a message in. Resolves when it has ended, with its replies, or at once with `false` if it is not taken in. */
export type TakeInbound = (inbound: LegacyInbound) => Promise<boolean>;

/** The place where a plugin's channels hand messages over, and the way that these come (spec §17.36): a host takes them from there. */
export interface LegacyIntake {
  /**
   * Takes what a channel hands over, until the result is disposed.
   *
   * @param lose takes a text that was lost on the way, as it came.
   */
  open(
    channelId: string,
    take: TakeInbound,
    lose: (
      accountId: string,
      raw: unknown,
      because: { readonly member: string; readonly error: unknown },
    ) => void,
  ): Disposable;
  /**
   * Runs code of the plugin that has a text. If it throws, or a member fails meanwhile, and nobody has taken the text over, it is lost.
   *
   * @param raw gives the text as it came, as plain data; nothing if there is none.
   * @param work is given a function that tells whether the text would be lost, if it ended now.
   */
  carry<T>(raw: () => unknown, work: (isLost: () => boolean) => Promise<T> | T): Promise<T>;
  /** The members that failed on the way of an account since it started or a message was answered without a failure, and the first refused one. */
  troublesOf(
    channelId: string,
    accountId: string,
  ): { readonly failed: readonly string[]; readonly refused: string | undefined };
  /** An account takes nothing in any more: a text of it that is not handed over is lost. */
  leave(channelId: string, accountId: string): void;
}

/** The place where a host keeps what a plugin stores (spec §17.35). */
export interface LegacyState {
  /** Keeps the values of the plugin there from now on: a host does it when it is made. */
  keepIn(values: KeyValues): void;
  /**
   * Has the events of an account read again, since another host may have had it: a host does it when it starts the account.
   *
   * @param lost aborts when another host has the account: no event is taken in for it any more.
   */
  reread(accountId: string, lost?: AbortSignal): void;
  /** Returns whether events of an account wait and its plugin has not taken one for long. */
  isStuck(accountId: string): boolean;
}
