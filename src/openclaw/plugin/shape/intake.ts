import type { KeyValues } from '@sluice/sdk/extension';
import { legacyError } from '../../errors.js';
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

/** The place where a plugin's channels hand messages over: a host takes them from there. */
export interface LegacyIntake {
  /** Takes what a channel hands over, until the result is disposed. */
  open(channelId: string, take: TakeInbound): Disposable;
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
}

/** The intake of a plugin, from its two sides. */
export interface PluginIntake extends LegacyIntake {
  /** @throws SluiceError (as a rejection) `channel-closed` where no host takes from this channel. */
  readonly hand: (inbound: LegacyInbound) => Promise<void>;
}

/** Makes the intake of a plugin. */
export function pluginIntake(extensionId: string): PluginIntake {
  const takers = new Map<string, TakeInbound>();
  return {
    open: (channelId, take) => {
      takers.set(channelId, take);
      return {
        [Symbol.dispose]: () => {
          if (takers.get(channelId) === take) takers.delete(channelId);
        },
      };
    },
    hand: async (inbound) => {
      const { channelId } = inbound;
      const take = takers.get(channelId);
      if (take === undefined || !(await take(inbound)))
        throw legacyError('channel-closed', { extensionId, channelId });
    },
  };
}
