import { AsyncLocalStorage } from 'node:async_hooks';
import { type Clock, isSluiceError, isThenable, Timer } from 'sluice-kernel/internal';
import { legacyError } from '../../errors.js';
import type { LegacyInbound, LegacyIntake } from '../shape/intake.js';
import { type AccountWay, type Carried, keptUp, type LostBecause } from './carried.js';
import { textsIn } from './texts-in.js';

/** Milliseconds in which a text has to be handed over after a failure, if nobody tells when the code that has it ends. */
const graceMs = 10_000;
/** Members of one account that are named at once. */
const mostFailures = 20;

/** The things that a message way tells of. */
interface WayParts {
  readonly extensionId: string;
  readonly clock: Clock;
  /** Is told of each failure of a member, wherever its plugin was. */
  readonly onFailure: (error: unknown) => void;
  /** Is told once of each member that failed on the way of a message, until a message was answered without it. */
  readonly onTrouble: (about: object, error: unknown) => void;
}

/** The host's side of a channel. */
interface Taker {
  readonly take: Parameters<LegacyIntake['open']>[1];
  readonly lose: Parameters<LegacyIntake['open']>[2];
}

/**
 * The way of the messages of a plugin (spec §17.36): from the start of an account to the reply. A member of its api that throws, rejects
 * or is refused there is told here, whatever the plugin does with the error; a text that had come is not lost in silence.
 */
export class MessageWay implements LegacyIntake {
  readonly #parts: WayParts;
  /** The code that runs: for an account, and perhaps with a text that has come. */
  readonly #at = new AsyncLocalStorage<Pick<Carried, 'account'> & { carried?: Carried }>();
  readonly #accounts = new Map<string, AccountWay>();
  readonly #takers = new Map<string, Taker>();

  constructor(parts: WayParts) {
    this.#parts = parts;
  }

  open(channelId: string, take: Taker['take'], lose: Taker['lose']): Disposable {
    const taker = { take, lose };
    this.#takers.set(channelId, taker);
    return {
      [Symbol.dispose]: () => {
        if (this.#takers.get(channelId) === taker) this.#takers.delete(channelId);
      },
    };
  }

  failuresOf(channelId: string, accountId: string): readonly string[] {
    return [...(this.#find(channelId, accountId)?.failures ?? [])];
  }

  refusedTo(channelId: string, accountId: string): string | undefined {
    return this.#find(channelId, accountId)?.refused;
  }

  /** Starts an account: its code, and all that comes of it, is on the way. */
  inAccount<T>(channelId: string, accountId: string, work: () => T): T {
    const account = { channelId, accountId, failures: new Set<string>(), failed: 0 };
    this.#accounts.set(keyOf(channelId, accountId), { ...account, open: new Set() });
    return this.#inside(this.#find(channelId, accountId), undefined, work);
  }

  /** Makes each function of a group of the api tell of its failures. What it does is as before. */
  watch<T extends object>(owner: string, members: T): T {
    const watched = Object.entries(members).map(([name, member]: [string, unknown]) => [
      name,
      typeof member === 'function' ? this.#watched(`${owner}.${name}`, member as Run) : member,
    ]);
    return Object.fromEntries(watched) as T; // the same names, each with a function of its type
  }

  /** A member has failed, or was refused. Not on the way of a message it is the plugin's own affair. */
  failed(member: string, error: unknown, given: readonly unknown[] = []): void {
    this.#parts.onFailure(error);
    const { account, carried } = this.#at.getStore() ?? {};
    if (account === undefined) return;
    account.failed += 1;
    if (isSluiceError(error, 'plugin-unsupported')) account.refused ??= member;
    this.#trouble(account, member, error);
    const texts = carried === undefined ? textsIn(given, member) : [];
    if (carried !== undefined) this.#note(carried, { member, error });
    else if (texts.length > 0)
      this.#note(
        openText(account, { texts }, (one) => texts.includes(one)),
        { member, error },
      );
  }

  async carry<T>(raw: () => unknown, work: (isLost: () => boolean) => Promise<T> | T): Promise<T> {
    const at = this.#at.getStore();
    const account = at?.account ?? this.#accounts.values().next().value; // of a route: the first that was started
    if (account === undefined) return work(() => false);
    const carried: Carried = { account, within: at?.carried, raw, isKept: false, isOver: false };
    const isLost = (): boolean => carried.because !== undefined && !carried.isKept;
    try {
      return await this.#inside(account, carried, () => work(isLost));
    } catch (error) {
      carried.because ??= { member: 'its own code', error };
      throw error;
    } finally {
      carried.isOver = true;
      if (carried.because !== undefined) this.#lose(carried);
    }
  }

  /**
   * The plugin works on an event of the queue of an account. The result is told how that has ended: with an error, or else well; it is
   * lost if a member failed meanwhile and the host has no message with a text of it.
   */
  claimed(accountId: string, payload: unknown): (failure?: LostBecause) => void {
    const [account] = this.#named(accountId);
    if (account === undefined) return () => undefined;
    const { failed } = account;
    const carried = openText(account, payload, (text) =>
      JSON.stringify(payload ?? null).includes(JSON.stringify(text).slice(1, -1)),
    );
    return (failure) => {
      const because = failure ?? (account.failed > failed ? account.last : undefined);
      if (because !== undefined) carried.because = because;
      if (because === undefined) keptUp(carried);
      else this.#lose(carried);
    };
  }

  /** A message of an account could not be worked on, and is tried again. */
  troubled(accountId: string, member: string, error: unknown): void {
    for (const account of this.#named(accountId)) this.#trouble(account, member, error);
  }

  /** Somebody has the text now: the queue of the channel, a debouncer or the host. */
  kept(): void {
    keptUp(this.#at.getStore()?.carried);
  }

  /**
   * Hands a message to the host, whose own work is not on the way. Resolves when it has ended.
   *
   * @throws SluiceError (as a rejection) `channel-closed` where no host takes it in.
   */
  async hand(inbound: LegacyInbound): Promise<void> {
    const { channelId, accountId, context } = inbound;
    const account = this.#find(channelId, accountId);
    const { carried } = this.#at.getStore() ?? {};
    const before = account?.failed;
    const taken = (): void => {
      keptUp(carried);
      const texts = textsIn([context]);
      for (const one of account?.open ?? [])
        if (texts.some((text) => one.isOf?.(text))) keptUp(one);
    };
    const onTaken = (): Promise<void> => {
      taken();
      return inbound.onTaken();
    };
    const { take } = this.#takers.get(channelId) ?? {};
    if (!(await this.#at.exit(() => take?.({ ...inbound, onTaken }))))
      throw legacyError('channel-closed', { extensionId: this.#parts.extensionId, channelId });
    taken(); // one that came twice at once was taken for the other
    if (account === undefined || account.failed !== before) return;
    account.failures.clear();
    delete account.refused;
  }

  /** Runs code of the plugin that delivers a reply: the text of its calls is the host's. */
  replying<T>(channelId: string, accountId: string, work: () => T): T {
    const account = this.#find(channelId, accountId);
    const mine = account && { account, raw: () => undefined, isKept: true, isOver: true };
    return this.#inside(account, mine, work);
  }

  #inside<T>(account: AccountWay | undefined, carried: Carried | undefined, work: () => T): T {
    if (account === undefined) return work();
    return this.#at.run(carried === undefined ? { account } : { account, carried }, work);
  }

  #find(channelId: string, accountId: string): AccountWay | undefined {
    return this.#accounts.get(keyOf(channelId, accountId));
  }

  /** The accounts with an id, of any channel. */
  #named(accountId: string): readonly AccountWay[] {
    return [...this.#accounts.values()].filter(
      (one) => one.accountId.toLowerCase() === accountId.toLowerCase(),
    );
  }

  #trouble(account: AccountWay, member: string, error: unknown): void {
    const { channelId: channel, accountId, failures } = account;
    account.last = { member, error };
    if (failures.has(member) || failures.size >= mostFailures) return;
    failures.add(member);
    this.#parts.onTrouble({ channel, accountId, member }, error);
  }

  #watched(member: string, run: Run): Run {
    return (...given) => {
      try {
        const result = run(...given);
        if (isThenable(result))
          result.then(undefined, (error: unknown) => this.failed(member, error, given));
        return result;
      } catch (error) {
        this.failed(member, error, given);
        throw error;
      }
    };
  }

  /** A text may be lost: it is, if the code that has it ends, or a while has passed, and nobody has it. */
  #note(carried: Carried, because: LostBecause): void {
    carried.because ??= because;
    if (!carried.isOver || carried.isKept || carried.timer !== undefined) return;
    carried.timer = new Timer(this.#parts.clock);
    carried.timer.setIdly(graceMs, () => this.#lose(carried));
  }

  #lose(carried: Carried): void {
    if (carried.isKept) return;
    keptUp(carried); // it is told once
    const { account, raw, because } = carried;
    const text = because && raw();
    if (because !== undefined && text !== undefined)
      this.#takers.get(account.channelId)?.lose(account.accountId, text, because);
  }
}

type Run = (...given: readonly unknown[]) => unknown;

function keyOf(channelId: string, accountId: string): string {
  return JSON.stringify([channelId, accountId.toLowerCase()]);
}

/** A text that no code is known to have. */
function openText(account: AccountWay, text: unknown, isOf: (text: string) => boolean): Carried {
  const carried: Carried = { account, raw: () => text, isOf, isKept: false, isOver: true };
  account.open.add(carried);
  return carried;
}
