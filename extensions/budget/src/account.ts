import type { Amount, Cap } from './config.js';

/** How many reservations an account may have. */
const maxHolds = 1_000;
/** Milliseconds that a reservation waits for its run to begin. */
const waitMs = 600_000;

/** A reservation. It waits for its run, or it is held by the run. */
interface Hold extends Amount {
  /** When it is over if no run begins, in milliseconds since 1970. */
  readonly untilMs?: number;
  readonly runId?: string;
}

/** The figures of a day under one cap: the tokens and money that were used, and the reservations by their messages. */
export interface Account {
  /** For people. */
  readonly name: string;
  readonly used: Amount;
  /** How many runs were charged an estimate. */
  readonly guessed: number;
  readonly holds: { readonly [turn: string]: Hold };
  /** The cap when it was last written, for those who look on. */
  readonly cap?: Cap;
}

/** A cap that a reservation would break, with the figures of then. */
export interface Excess {
  readonly unit: 'tokens' | 'microUsd' | 'reservations';
  readonly limit: number;
  readonly used: number;
  readonly reserved: number;
}

/** The message that a change is about, and the time of it, in milliseconds since 1970. */
interface Turn {
  readonly id: string;
  readonly nowMs: number;
}

const nothing: Amount = { tokens: 0, microUsd: 0 };

/** Makes an account in which nothing was used. */
export function newAccount(name: string): Account {
  return { name, used: nothing, guessed: 0, holds: {} };
}

/** Adds up the reservations that are not over. */
export function reservedIn({ holds }: Account, nowMs: number): Amount {
  return Object.values(holds)
    .filter((hold) => isOpen(hold, nowMs))
    .reduce(plus, nothing);
}

/** Reserves for a message, once. @returns the account after it, or the cap that would be broken. */
export function reserve(
  account: Account,
  { id, nowMs }: Turn,
  estimate: Amount,
  cap: Cap | undefined,
): Account | Excess {
  const holds = openHolds(account, nowMs);
  const own = holds[id];
  if (own === undefined) {
    const excess = excessOf({ ...account, holds }, nowMs, estimate, cap);
    if (excess !== undefined) return excess;
  }
  if (own?.runId !== undefined) return { ...account, holds }; // its run did not come to its end
  return { ...account, holds: { ...holds, [id]: { ...estimate, untilMs: nowMs + waitMs } } };
}

/** Takes a reservation back that no run holds; nothing changes if there is none. */
export function release(account: Account, { id, nowMs }: Turn): Account | undefined {
  const holds = openHolds(account, nowMs);
  const own = holds[id];
  if (own === undefined || own.runId !== undefined) return undefined;
  return { ...account, holds: without(holds, id) };
}

/**
 * Gives the reservation of a message to its run, or makes one. If another run holds it that does not run any more, a dead
 * process has left it: its estimate is charged.
 */
export function begin(
  account: Account,
  { id, nowMs }: Turn,
  { runId, estimate, runs }: { runId: string; estimate: Amount; runs: (runId: string) => boolean },
): Account {
  const holds = openHolds(account, nowMs);
  const own = holds[id];
  const holder = own?.runId;
  if (holder !== undefined && (holder === runId || runs(holder))) return account;
  const left = own !== undefined && holder !== undefined ? own : undefined;
  const after = { ...account, holds: { ...holds, [id]: { ...estimate, runId } } };
  return left === undefined ? after : charged(after, left, true);
}

/** Charges a run, and ends its reservation. A run within the run ends none. */
export function settle(
  account: Account,
  { id, nowMs }: Turn,
  run: { readonly runId: string | undefined; readonly charge: Amount; readonly isGuess: boolean },
): Account {
  const holds = openHolds(account, nowMs);
  const holder = holds[id]?.runId;
  const isOwn = holder === undefined || holder === run.runId;
  const after = { ...account, holds: isOwn ? without(holds, id) : holds };
  return charged(after, run.charge, run.isGuess);
}

function charged(account: Account, charge: Amount, isGuess: boolean): Account {
  const guessed = account.guessed + (isGuess ? 1 : 0);
  return { ...account, used: plus(account.used, charge), guessed };
}

function excessOf(
  account: Account,
  nowMs: number,
  estimate: Amount,
  cap: Cap = {},
): Excess | undefined {
  const { used, holds } = account;
  const reserved = reservedIn(account, nowMs);
  for (const unit of ['tokens', 'microUsd'] as const) {
    const limit = cap[unit];
    if (limit !== undefined && used[unit] + reserved[unit] + estimate[unit] > limit)
      return { unit, limit, used: used[unit], reserved: reserved[unit] };
  }
  const count = Object.keys(holds).length;
  return count < maxHolds
    ? undefined
    : { unit: 'reservations', limit: maxHolds, used: 0, reserved: count };
}

function openHolds({ holds }: Account, nowMs: number): Account['holds'] {
  return Object.fromEntries(Object.entries(holds).filter(([, hold]) => isOpen(hold, nowMs)));
}

function isOpen({ untilMs }: Hold, nowMs: number): boolean {
  return untilMs === undefined || untilMs > nowMs;
}

function without(holds: Account['holds'], id: string): Account['holds'] {
  const { [id]: _, ...others } = holds;
  return others;
}

function plus(one: Amount, other: Amount): Amount {
  return { tokens: one.tokens + other.tokens, microUsd: one.microUsd + other.microUsd };
}
