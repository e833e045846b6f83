import type { KeyValues, WriteResult } from '@sluice/sdk/extension';
import { type Clock, definedFields } from 'sluice-kernel/internal';
import { journalError } from './errors.js';
import { checkedFence, noFence, type Ownership, type UpdateFence } from './fence.js';
import {
  type Journal,
  openUpdates,
  type SendRecord,
  type SendState,
  type UpdateRecord,
  type UpdateState,
} from './journal.js';
import { fullReason, joinedReason } from './message-end.js';
import type { Scrub } from './privacy/scrub.js';
import { isScrubbed } from './scrub-mark.js';
import { type ChangeableRows, inState, type Standing, sendChanges } from './send-changes.js';

/** The same of an update, with its slot, if it has one. */
interface StandingUpdate extends Standing<UpdateState> {
  readonly slot?: unknown;
  readonly outcome?: unknown;
}

/** The rows that a journal changes. */
export interface JournalRows<Update extends StandingUpdate, Send extends Standing<SendState>> {
  readonly updates: ChangeableRows<UpdateRecord, Update>;
  readonly sends: ChangeableRows<SendRecord, Send>;
  /** The open updates of a lane, counted no further than `most`. */
  openIn(lane: string, most: number): number;
  /** All dead letters; with a reason, those that joined another update for it. */
  dead(joinedReason?: string): readonly Update[];
  /** A number that no send of an update exceeds yet. */
  lastSend(eventId: string): number;
}

const changing = [
  ...(['accept', 'begin', 'release', 'endUpdate', 'retry', 'purge'] as const),
  ...(['prepare', 'final', 'sending', 'unsent', 'shown', 'endSend'] as const),
];

/** The name of a change. */
export type Changing = (typeof changing)[number];

/** The changes of a journal as its interface says them. The caller makes each in one write, or one transaction. */
type JournalChanges = {
  readonly [Name in Changing]: (
    ...args: Parameters<Journal[Name]>
  ) => Awaited<ReturnType<Journal[Name]>>;
};

/** A transaction of a journal, as its writes see it. */
export interface JournalTransaction {
  readonly changes: JournalChanges;
  readonly sessions: SessionChanges;
  readonly values: ValueChanges;
}

/** The changes of sessions and transcripts. */
export interface SessionChanges {
  /** Keeps a session in place of the one under its key, whose transcript goes if it has another id. */
  save(sessionKey: string, sessionId: string, body: string): void;
  /** Adds to a transcript. */
  append(sessionId: string, isPrompt: boolean, body: string): void;
  /** Cleans the messages of a transcript that came after so many. */
  scrub(sessionId: string, before: number, scrub: Scrub): void | Promise<void>;
}

/** The changes of key values, as `KeyValues` says them. */
export interface ValueChanges {
  write(...given: Parameters<KeyValues['write']>): WriteResult | Promise<WriteResult>;
  clear(namespace: string): number | Promise<number>;
}

/**
 * The transitions of updates and sends, the same for each store. A transition that is refused changes nothing: `journal-state`.
 *
 * @param scrub cleans the texts of a row with the write that ends it, which nobody needs to go on then (durability §13.2).
 * @example
 * const changes = journalChanges({ updates, sends, openIn, dead, lastSend }, systemClock, wholeOwnership());
 * const attempts = database.transaction(() => changes.begin('u-1').attempts);
 */
export function journalChanges<Update extends StandingUpdate, Send extends Standing<SendState>>(
  rows: JournalRows<Update, Send>,
  clock: Clock,
  ownership: Ownership,
  scrub?: Scrub,
): JournalChanges {
  const { updates } = rows;
  const clean = <T extends string | undefined>(text: T) =>
    scrub === undefined || text === undefined ? text : scrub(text);
  /** The body of a dead letter. If that is no longer what came in, it cannot be tried again. */
  const letter = (body: string | undefined) => {
    const cleaned = clean(body);
    return cleaned === body ? {} : { body: cleaned, scrubbedAtMs: clock.now() };
  };
  const fenceOf = (eventId: string, slot: unknown, attempt: number): UpdateFence | undefined => {
    const fence = ownership.fenceOf(Number(slot ?? 0));
    return fence && { eventId, attempt, ...fence };
  };
  const update = (id: string, from: readonly UpdateState[], wanted: string): Update =>
    inState({ what: 'update', id, wanted }, updates.find(id), from);
  const again = {
    state: 'accepted',
    attempts: 0,
    endedAtMs: undefined,
    outcome: undefined,
    reason: undefined,
  } as const;

  return {
    accept: (given, isBegun = false, mostOpen) => {
      const { lane = '' } = given;
      const acceptedAtMs = clock.now();
      const open = mostOpen === undefined ? undefined : rows.openIn(lane, mostOpen);
      const isFull = open !== undefined && open >= (mostOpen ?? open);
      const isNext = isBegun && !(ownership.partitionCount > 1 && rows.openIn(lane, 1) > 0);
      const fence = isNext && !isFull ? fenceOf(given.eventId, given.slot, 1) : undefined;
      const standing = isFull
        ? ({ state: 'dead', attempts: 0, outcome: 'failed', reason: fullReason } as const)
        : fence === undefined
          ? ({ state: 'accepted', attempts: 0 } as const)
          : ({ state: 'handling', attempts: 1 } as const);
      const ended = isFull ? { endedAtMs: acceptedAtMs } : {};
      const kept = isFull ? letter(given.body) : undefined;
      const known = updates.add(Object.assign({ acceptedAtMs }, ended, standing, given, kept));
      if (known !== undefined)
        return { status: 'known', state: known.state, attempts: known.attempts };
      if (isFull) return { status: 'full' };
      return { status: 'accepted', ...definedFields({ fence, open }) };
    },
    begin: (eventId, joined = [], attempt) => {
      const was = update(eventId, openUpdates, 'begun');
      const isBegun = was.state === 'handling' && was.attempts === attempt; // by a try that had no answer
      const attempts = isBegun ? attempt : was.attempts + 1;
      const fence = fenceOf(eventId, was.slot, attempts);
      if (fence === undefined) throw noFence('another host has the partition of its lane');
      const joining = joined.map((id) => update(id, ['accepted'], 'joined'));
      updates.change(was, { state: 'handling', attempts }); // if it is damaged, nothing else has changed
      for (const row of joining) updates.change(row, { joinedTo: eventId });
      return { attempts, fence };
    },
    release: (fence) => {
      const { eventId, attempt } = checkedFence(fence);
      const was = update(eventId, ['handling'], 'released');
      if ((attempt ?? was.attempts) !== was.attempts) return; // by a try that had no answer
      updates.change(was, { attempts: Math.max(0, was.attempts - 1) });
    },
    endUpdate: (fence, { isDead, outcome, reason }) => {
      const { eventId } = checkedFence(fence);
      const was = update(eventId, openUpdates, 'ended');
      updates.change(was, {
        state: isDead ? 'dead' : 'ended',
        outcome,
        reason: outcome === 'joined' ? reason : clean(reason),
        endedAtMs: clock.now(),
        retriedAfterSeq: undefined,
        joinedTo: undefined,
        // people's words are kept no longer than they must be
        ...(!isDead ? { body: undefined } : scrub && letter(updates.bodyOf(was))),
      });
    },
    retry: (eventId) => {
      const was = updates.find(eventId);
      if (was?.state !== 'dead') return false;
      const joined = rows.dead(joinedReason(eventId));
      if ([was, ...joined].some(isScrubbed)) throw journalError('letter-scrubbed', { id: eventId });
      updates.change(was, { ...again, retriedAfterSeq: rows.lastSend(eventId) });
      for (const one of joined) updates.change(one, { ...again, joinedTo: eventId });
      return true;
    },
    purge: (eventId) => {
      const chosen = eventId === undefined ? rows.dead() : [updates.find(eventId)];
      const dead = chosen.flatMap((row) => (row?.state === 'dead' ? [row] : []));
      for (const row of dead) updates.change(row, { state: 'ended', body: undefined });
      return dead.length;
    },
    ...sendChanges(rows.sends, clock, scrub),
  };
}

/**
 * Makes the changes of a journal: each is one write.
 *
 * @param write runs a change in a transaction. It is told its name and its arguments.
 */
export function writtenChanges(
  write: <T>(
    run: (at: Pick<JournalTransaction, 'changes'>) => T,
    name: Changing,
    args: readonly unknown[],
  ) => Promise<T>,
): Pick<Journal, Changing> {
  const written = changing.map((name) => [
    name,
    (...args: unknown[]) =>
      write(
        ({ changes }) => {
          const change = changes[name] as (...args: unknown[]) => unknown; // it gets the arguments of its own change
          return change(...args);
        },
        name,
        args,
      ),
  ]);
  return Object.fromEntries(written) as Pick<Journal, Changing>; // each name is there
}

/** Notes that an operator tends a journal in the process of its host: the host looks for that as for a change from outside. */
export function noteTending({ retry, purge }: Pick<Journal, 'retry' | 'purge'>) {
  let isTended = false;
  const noted =
    <Given extends unknown[], T>(change: (...given: Given) => Promise<T>) =>
    async (...given: Given): Promise<T> => {
      const result = await change(...given);
      isTended = true;
      return result;
    };
  return {
    tending: { retry: noted(retry), purge: noted(purge) },
    /** Returns whether it was tended since the last call. */
    wasTended: (): boolean => {
      const was = isTended;
      isTended = false;
      return was;
    },
  };
}

/** Returns whether a record is a dead letter; with a reason, one that joined another update for it. */
export function isDead({ state, outcome, reason }: UpdateRecord, joinedReason?: string): boolean {
  const isWanted = joinedReason === undefined || (outcome === 'joined' && reason === joinedReason);
  return state === 'dead' && isWanted;
}
