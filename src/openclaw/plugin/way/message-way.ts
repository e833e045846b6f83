import { AsyncLocalStorage } from 'node:async_hooks';
import {
  type Clock,
  fieldsOf,
  getOrMake,
  isFields,
  isPlain,
  isSluiceError,
  isThenable,
  Timer,
} from 'sluice-kernel/internal';
import { legacyError } from '../../errors.js';
import type { LegacyInbound, LegacyIntake } from '../shape/intake.js';
import {
  type AccountWay,
  type Carried,
  close,
  isOpen,
  type LostBecause,
  openText,
  openWith,
} from './carried.js';
import { textsIn } from './texts-in.js';

/** Milliseconds in which a text has to be handed over after a failure, if nobody tells when the code that has it ends. */
const graceMs = 10_000;
/** Milliseconds after its end in which code may still fail with a text that it had. */
const lateMs = 60_000;
const noTexts: readonly string[] = [];
/** The member that an event of a provider is handed to: its second argument is all that is known of a text. */
const takesIn = 'api.runtime.state.openChannelIngressQueue.enqueue';
/** Members that make an object: its functions are watched, too, unless it is of a class. */
const isMaker = /\.(?:open|create|getChild)[A-Z]\w*$/;
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

/** The code that runs: for an account, and perhaps with a text that has come, or with one that the host has. */
interface At {
  readonly account: AccountWay;
  readonly carried?: Carried;
  readonly isHosts?: boolean;
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
  readonly #at = new AsyncLocalStorage<At>();
  readonly #accounts = new Map<string, AccountWay>();
  readonly #takers = new Map<string, Taker>();
  /** The objects that members have made, as they are watched. */
  readonly #made = new WeakMap<object, object>();

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

  troublesOf(channelId: string, accountId: string): ReturnType<LegacyIntake['troublesOf']> {
    const { failures = [], refused } = this.#find(channelId, accountId) ?? {};
    return { failed: [...failures], refused };
  }

  leave(channelId: string, accountId: string): void {
    const account = this.#find(channelId, accountId);
    this.#accounts.delete(keyOf(channelId, accountId));
    for (const carried of [...(account?.open ?? [])])
      if (carried.timer !== undefined) this.#end(carried); // nobody hands it over any more
  }

  /** Starts an account: its code, and all that comes of it, is on the way. */
  inAccount<T>(channelId: string, accountId: string, work: () => T): T {
    const account = { channelId, accountId, failures: new Set<string>(), open: new Set<Carried>() };
    this.#accounts.set(keyOf(channelId, accountId), account);
    return this.#at.run({ account }, work);
  }

  /** Makes each function of a group of the api tell of its failures. What it does is as before. */
  watch<T extends object>(owner: string, members: T): T {
    const watched = Object.entries(members).map(([name, member]: [string, unknown]) => [
      name,
      typeof member === 'function' ? this.#watched(`${owner}.${name}`, member as Run) : member,
    ]);
    return Object.fromEntries(watched) as T; // the same names, each with a function of its type
  }

  /** A member has failed, or was refused. Not on the way of a message it is the plugin's own affair, and so is what it has aborted. */
  failed(member: string, error: unknown, given: readonly unknown[] = []): void {
    this.#parts.onFailure(error);
    const { account, carried, isHosts } = this.#at.getStore() ?? {};
    if (account === undefined || fieldsOf(error)['name'] === 'AbortError') return;
    if (isSluiceError(error, 'plugin-unsupported')) account.refused ??= member;
    const because = this.#trouble(account, member, error);
    if (isHosts === true) return;
    const handed = carried === undefined ? noTexts : carried.handed;
    const texts = textsIn(given, member).filter((text) => handed?.includes(text) === false);
    const isOf = (text: string): boolean => texts.includes(text);
    if (carried !== undefined && isOpen(carried)) this.#note(carried, because);
    else if (member === takesIn)
      this.#note(
        openText(account, () => given[1], { isOf: isIn(given[1]), isOver: true }),
        because,
      );
    else if (texts.length > 0)
      this.#note(
        openWith(account, texts)[0] ?? openText(account, () => ({ texts }), { isOf, isOver: true }),
        because,
      );
    else if (carried?.handed === undefined) account.astray = because; // the queue has its text
  }

  async carry<T>(raw: () => unknown, work: (isLost: () => boolean) => Promise<T> | T): Promise<T> {
    const { account = this.#accounts.values().next().value, carried: within } =
      this.#at.getStore() ?? {}; // a route is of the first account that was started
    if (account === undefined) return work(() => false);
    const carried = openText(account, raw, { within });
    const isLost = (): boolean => carried.because !== undefined && isOpen(carried);
    try {
      return await this.#at.run({ account, carried }, () => work(isLost));
    } catch (error) {
      carried.because ??= { member: 'its own code', error };
      throw error;
    } finally {
      carried.isOver = true;
      if (carried.because !== undefined) this.#end(carried);
      else if (isOpen(carried)) this.#endIn(lateMs, carried);
    }
  }

  /**
   * The plugin works on an event of the queue of an account. The result is told when that has ended: with a failure, or else well; it is
   * lost if a member failed meanwhile and the host has no message of it.
   */
  claimed(accountId: string, payload: unknown): (failure?: LostBecause | 'given back') => void {
    const account = this.#named(accountId);
    if (account === undefined) return () => undefined;
    const { astray } = account;
    const carried = openText(account, () => payload, { isOf: isIn(payload) });
    return (failure) => {
      const isAdopted = this.#at.getStore()?.isHosts === true;
      if (failure === 'given back' || isAdopted) return close(carried);
      const meanwhile = account.astray === astray ? undefined : account.astray;
      this.#end(carried, failure ?? carried.because ?? meanwhile);
    };
  }

  /** A message of an account could not be worked on, and is tried again. */
  troubled(accountId: string, member: string, error: unknown): void {
    const account = this.#named(accountId);
    if (account !== undefined) this.#trouble(account, member, error);
  }

  /** Somebody has the text now: the queue of the channel, a debouncer or the host. */
  kept(): void {
    close(this.#at.getStore()?.carried);
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
    const before = account?.last;
    const texts = textsIn([context]);
    let isTaken = false;
    const taken = (): void => {
      if (isTaken) return;
      isTaken = true;
      close(carried, texts);
      if (account !== undefined) for (const one of openWith(account, texts)) close(one);
    };
    const onTaken = (): Promise<void> => {
      taken();
      return this.forHost(channelId, accountId, inbound.onTaken);
    };
    const { take } = this.#takers.get(channelId) ?? {};
    if (!(await this.#at.exit(() => take?.({ ...inbound, onTaken }))))
      throw legacyError('channel-closed', { extensionId: this.#parts.extensionId, channelId });
    taken(); // one that came twice at once was taken for the other
    if (account === undefined || account.last !== before) return;
    account.failures.clear();
    delete account.refused;
  }

  /** Runs code of the plugin with a text that the host has: it delivers a reply, or learns that a message was taken in. */
  forHost<T>(channelId: string, accountId: string, work: () => T): T {
    const account = this.#find(channelId, accountId);
    return account === undefined ? work() : this.#at.run({ account, isHosts: true }, work);
  }

  #find(channelId: string, accountId: string): AccountWay | undefined {
    return this.#accounts.get(keyOf(channelId, accountId));
  }

  /** The account with an id: the one whose code runs, or else the first of any channel. */
  #named(accountId: string): AccountWay | undefined {
    const running = this.#at.getStore()?.account;
    return [...(running ? [running] : []), ...this.#accounts.values()].find(
      (one) => one.accountId.toLowerCase() === accountId.toLowerCase(),
    );
  }

  #trouble(account: AccountWay, member: string, error: unknown): LostBecause {
    const { channelId: channel, accountId, failures } = account;
    account.last = { member, error };
    if (!failures.has(member) && failures.size < mostFailures) {
      failures.add(member);
      this.#parts.onTrouble({ channel, accountId, member }, error);
    }
    return account.last;
  }

  #watched(member: string, run: Run): Run {
    return (...given) => {
      try {
        const result = run(...given);
        if (isThenable(result))
          result.then(undefined, (error: unknown) => this.failed(member, error, given));
        return isMaker.test(member) && isFields(result) && isPlain(result)
          ? getOrMake(this.#made, result, () => this.watch(member, result))
          : result;
      } catch (error) {
        this.failed(member, error, given);
        throw error;
      }
    };
  }

  /** A text may be lost: it is, if the code that has it ends, or a while has passed, and nobody has it. */
  #note(carried: Carried, because: LostBecause): void {
    if (carried.isOver && carried.because === undefined) this.#endIn(graceMs, carried);
    carried.because ??= because;
  }

  #endIn(delayMs: number, carried: Carried): void {
    carried.timer ??= new Timer(this.#parts.clock);
    carried.timer.setIdly(delayMs, () => this.#end(carried));
  }

  /** Nobody will take a text over any more: it is told once if something has failed with it, or else was no message. */
  #end(carried: Carried, because = carried.because): void {
    const { account, raw } = carried;
    const text = because && isOpen(carried) ? raw() : undefined;
    close(carried);
    const { lose } = this.#takers.get(account.channelId) ?? {};
    if (because !== undefined && text !== undefined)
      this.#at.exit(() => lose?.(account.accountId, text, because));
  }
}

type Run = (...given: readonly unknown[]) => unknown;

function keyOf(channelId: string, accountId: string): string {
  return JSON.stringify([channelId, accountId.toLowerCase()]);
}

/** Tells whether an event has a text, as a whole or as a part. */
function isIn(event: unknown): (text: string, isExact: boolean) => boolean {
  let form = '';
  try {
    form = JSON.stringify(event ?? null);
  } catch {
    // it holds itself: it is known by nothing
  }
  return (text, isExact) =>
    form.includes(isExact ? JSON.stringify(text) : JSON.stringify(text).slice(1, -1));
}
