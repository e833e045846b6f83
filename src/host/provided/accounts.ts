import type { CapabilitiesOf, ChannelPlugin } from '@sluice/sdk/channel';

/** An account that has been started. */
export interface RunningAccount {
  readonly channel: ChannelPlugin;
  readonly accountId: string;
  /** The time of its start in milliseconds of the monotonic clock: the time of day may jump. */
  readonly startedMonotonicMs: number;
  /** Its slot, which is that of all its messages, if one host at a time connects it. */
  readonly slot?: number;
}

/** The key of an account, by which it has a slot. */
export function keyOfAccount(channel: string, accountId: string): string {
  return JSON.stringify([channel, accountId]);
}

/** The accounts that messages can be sent by, in the order in which they started. */
export class Accounts {
  readonly #running: RunningAccount[] = [];
  /** Those of the host itself: its jobs come by them, and nobody can send by them. */
  readonly #own: RunningAccount[] = [];

  add(account: RunningAccount): void {
    this.#running.push(account);
  }

  /** Adds an account of the host itself, until it is disposed: it can be found, and is in no list. */
  addOwn(account: RunningAccount): Disposable {
    this.#own.push(account);
    return { [Symbol.dispose]: () => remove(this.#own, account) };
  }

  remove(account: RunningAccount): void {
    remove(this.#running, account);
  }

  all(): readonly RunningAccount[] {
    return [...this.#running];
  }

  find(channel: string, accountId: string): RunningAccount | undefined {
    const isIt = (account: RunningAccount): boolean =>
      account.channel.id === channel && account.accountId === accountId;
    return this.#running.find(isIt) ?? this.#own.find(isIt);
  }

  /** Finds the abilities of a channel by one of its accounts. */
  readonly capabilitiesOf: CapabilitiesOf = ({ channel, accountId }) =>
    this.find(channel, accountId)?.channel.capabilities;

  /** Returns the accounts that `egress.preparing` offers its resolvers. */
  offered(): { channel: string; accountId: string }[] {
    return this.#running.map(({ channel, accountId }) => ({ channel: channel.id, accountId }));
  }
}

/** Takes one out of a list, if it is there. */
export function remove<T>(list: T[], one: T): void {
  const at = list.indexOf(one);
  if (at !== -1) list.splice(at, 1);
}
