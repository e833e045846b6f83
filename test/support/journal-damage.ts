import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type JournalReader,
  openJournal,
  openSqlite,
  readJournal,
  type SqliteJournal,
} from '../../src/journal/index.js';
import { journalProblems, repairJournal } from '../../src/journal/internal.js';
import { isSluiceError } from '../../src/kernel/internal.js';
import { fence, fenceOf } from './fences.js';

/** The files of a journal as they lie on the disk, and what is true of them. */
export interface JournalState {
  readonly name: string;
  /** By their suffix: '' is the database. */
  readonly files: ReadonlyMap<string, Buffer>;
  /** All records after the last transaction, and after the one before it. */
  readonly last: Records;
  readonly beforeLast: Records;
  /** Whatever a record was at any time. */
  readonly ever: ReadonlySet<string>;
}

/** Each record as JSON, in the order of reading. */
type Records = readonly string[];

const suffixes = ['', '-wal', '-shm'] as const;
const sessionIds = ['one', 'two'];

/** Makes the journals that are damaged: one that was closed, one whose process was killed, one with a log that began anew. */
export async function journalStates(): Promise<readonly JournalState[]> {
  return [
    await stateOf('closed', { isClosed: true }),
    await stateOf('killed', {}),
    await stateOf('killed, with a log that began anew', { restartsAt: 25 }),
  ];
}

async function stateOf(name: string, { isClosed = false, restartsAt = -1 }): Promise<JournalState> {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-damage-'));
  const path = join(folder, 'j.db');
  const journal = await openJournal(path);
  const ever = new Set<string>();
  let last: Records = [];
  let beforeLast: Records = [];
  let step = 0;
  const done = async (): Promise<void> => {
    beforeLast = last;
    last = await recordsOf(journal, journal.store);
    for (const record of last) ever.add(record);
    if (++step === restartsAt) {
      const other = openSqlite(path);
      other.prepare('PRAGMA wal_checkpoint(RESTART)').all();
      other.close();
    }
  };
  for (const write of writes(journal)) {
    await write();
    await done();
  }
  if (isClosed) await journal.close();
  const files = new Map<string, Buffer>();
  for (const suffix of suffixes)
    if (existsSync(path + suffix)) files.set(suffix, readFileSync(path + suffix));
  if (!isClosed) await journal.close();
  rmSync(folder, { recursive: true, force: true });
  return { name, files, last, beforeLast: isClosed ? last : beforeLast, ever };
}

/** One transaction each: of every kind that a host makes. */
function* writes(journal: SqliteJournal): Generator<() => Promise<unknown>> {
  const session = { agentId: 'main', context: {}, memoryKeys: [], metadata: {} };
  for (let at = 0; at < 12; at++) {
    const eventId = `u-${at}`;
    const from = { channel: 'scripted', accountId: 'default', updateId: `${at}`, receivedAtMs: 5 };
    const body = JSON.stringify({ text: `words ${at} `.repeat(at === 7 ? 900 : 9) });
    yield () => journal.accept({ ...from, eventId, lane: `lane ${at % 3}`, body });
    if (at % 4 === 3) continue;
    yield () => journal.begin(eventId);
    const send = {
      sendId: `s-${at}`,
      correlationId: eventId,
      kind: 'reply',
      fingerprint: `f${at}`,
    };
    yield () =>
      journal.prepare(fence, { ...send, channel: 'scripted', body: `{"content":"answer ${at}"}` });
    yield async () => {
      journal.dispatched({
        ...{ eventId: `d-${at}`, family: 'egress.sent', correlationId: eventId },
        ...{ sessionId: null, status: 'passed', occurredAtMs: Date.now() },
        body: JSON.stringify({ event: 'x'.repeat(40 * at) }),
      });
      await journal.sending(fence, send.sendId);
    };
    if (at % 4 === 2) continue;
    yield () => journal.endSend(fence, send.sendId, { state: 'sent', providerMessageId: `${at}` });
    yield () => journal.endUpdate(fenceOf(eventId), { isDead: at === 5, outcome: 'answered' });
    const sessionId = sessionIds[at % 2] ?? 'one';
    yield () =>
      journal.store.saveSession({ ...session, sessionKey: sessionId, sessionId }, { fence });
    yield () =>
      journal.store.appendMessage(sessionId, { role: 'user', content: `said ${at}` }, { fence });
  }
}

async function recordsOf(reader: JournalReader, store?: SqliteJournal['store']): Promise<Records> {
  const all = { limit: 10_000 };
  const of = (table: string, records: readonly unknown[]) =>
    records.map((record) => `${table} ${JSON.stringify(record)}`);
  const records = [
    ...of('updates', await reader.updates(all)),
    ...of('sends', await reader.sends(all)),
    ...of('dispatches', await reader.dispatches(all)),
  ];
  if (store === undefined) return records;
  for (const id of sessionIds) {
    records.push(...of(`session ${id}`, [(await store.loadSession(id)) ?? 'none']));
    records.push(...of(`transcript ${id}`, await store.readTranscript(id)));
  }
  return records;
}

/** Numbers from 0 up to a bound, the same for the same seed. */
export type Dice = (below: number) => number;

export function diceOf(seed: number): Dice {
  let state = (seed * 2_654_435_769 + 1) >>> 0;
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * below);
  };
}

type Harm = (bytes: Buffer, dice: Dice, block: number) => Buffer;

const inPlace =
  (harm: (bytes: Buffer, dice: Dice, block: number) => void): Harm =>
  (bytes, dice, block) => {
    harm(bytes, dice, block);
    return bytes;
  };

const flip = (bytes: Buffer, at: number, mask: number): void => {
  bytes[at] = (bytes[at] ?? 0) ^ mask;
};

/** The kinds of damage, in random places. */
export const harms: Readonly<Record<string, Harm>> = {
  'one bit': inPlace((bytes, dice) => flip(bytes, dice(bytes.length), 1 << dice(8))),
  'some bits': inPlace((bytes, dice) => {
    for (let left = 2 + dice(9); left > 0; left--) flip(bytes, dice(bytes.length), 1 << dice(8));
  }),
  'one byte': inPlace((bytes, dice) => flip(bytes, dice(bytes.length), 1 + dice(255))),
  'some bytes': inPlace((bytes, dice) => {
    for (let left = 2 + dice(29); left > 0; left--) flip(bytes, dice(bytes.length), 1 + dice(255));
  }),
  zeros: inPlace((bytes, dice) => {
    const from = dice(bytes.length);
    bytes.fill(0, from, Math.min(bytes.length, from + 1 + dice(6_000)));
  }),
  'a block of zeros': inPlace((bytes, dice, block) => {
    const from = dice(Math.ceil(bytes.length / block)) * block;
    bytes.fill(0, from, Math.min(bytes.length, from + block));
  }),
  noise: inPlace((bytes, dice) => {
    const from = dice(bytes.length);
    const until = Math.min(bytes.length, from + 1 + dice(600));
    for (let at = from; at < until; at++) bytes[at] = dice(256);
  }),
  'a cut end': (bytes, dice) => bytes.subarray(0, 1 + dice(bytes.length - 1)),
  'a cut end at a block': (bytes, dice, block) =>
    bytes.subarray(0, (1 + dice(Math.ceil(bytes.length / block) - 1)) * block),
  'swapped blocks': inPlace((bytes, dice, block) => {
    const blocks = Math.floor(bytes.length / block);
    const [one, two] = [dice(blocks) * block, dice(blocks) * block];
    const kept = Buffer.from(bytes.subarray(one, one + block));
    bytes.copyWithin(one, two, two + block);
    kept.copy(bytes, two);
  }),
  'a block written over another': inPlace((bytes, dice, block) => {
    const blocks = Math.floor(bytes.length / block);
    const from = dice(blocks) * block;
    bytes.copyWithin(dice(blocks) * block, from, from + block);
  }),
};

/** The result of one damage. */
export interface Round {
  readonly seed: number;
  /** `as it was`, `without its last transaction`, or the code of the error. */
  readonly opened: string;
  /** `not tried`, `repaired`, or the code of the error. One in three is tried. */
  readonly repair: string;
  /** Records that a repair kept, of those that there were. */
  readonly kept: number;
  readonly of: number;
  readonly what: string;
  /** Why that is a fault. */
  readonly faults: readonly string[];
}

/** Damages one file of a journal, as a seed says, and sees what opening, reading and repairing it make of that. */
export async function damageRound(
  states: readonly JournalState[],
  seed: number,
  folder: string,
): Promise<Round> {
  const dice = diceOf(seed);
  const state = states[dice(states.length)];
  if (state === undefined) throw new Error('there is no state');
  const suffix = [...state.files.keys()].filter((one) => (state.files.get(one)?.length ?? 0) > 0);
  const chosen = suffix[dice(suffix.length)] ?? '';
  const kinds = Object.keys(harms);
  const kind = kinds[dice(kinds.length)] ?? '';
  const path = join(folder, 'j.db');
  const place = (): void => {
    for (const one of suffixes) rmSync(path + one, { force: true });
    for (const [one, bytes] of state.files) writeFileSync(path + one, bytes);
    const bytes = Buffer.from(state.files.get(chosen) ?? []);
    const offset = chosen === '-wal' ? 32 : 0;
    const block = chosen === '-wal' ? 4_120 : 4_096;
    const diceOfPlace = diceOf(seed + 1_000_000_007);
    const isWhole = offset === 0 || !kind.includes('block') || diceOfPlace(4) === 0;
    const harm = harms[kind] ?? ((same: Buffer) => same);
    const harmed = isWhole
      ? harm(bytes, diceOfPlace, block)
      : Buffer.concat([
          bytes.subarray(0, offset),
          harm(bytes.subarray(offset), diceOfPlace, block),
        ]);
    writeFileSync(path + chosen, harmed);
  };
  const faults: string[] = [];

  place();
  const lenient = await readLeniently(path);
  for (const record of lenient.records)
    if (!state.ever.has(record)) faults.push(`read as good: ${record.slice(0, 200)}`);
  if (
    lenient.error === undefined &&
    lenient.damages === 0 &&
    !isOneOf(lenient.records, state, (record) => /^(updates|sends|dispatches) /.test(record))
  )
    faults.push('read as whole, and it is not');

  place();
  const opened = await openAndCompare(path, state, faults);

  let repair = 'not tried';
  let kept = 0;
  if (opened === 'database-damaged' && dice(3) === 0) {
    place();
    ({ repair, kept } = await repairAndCompare(path, state, faults));
  }
  for (const one of suffixes) rmSync(path + one, { force: true });
  const what = `${kind} in ${chosen === '' ? 'the database' : chosen} of ${state.name}`;
  return { seed, opened, repair, kept, of: state.last.length, what, faults };
}

async function readLeniently(
  path: string,
): Promise<{ records: Records; damages: number; error?: string }> {
  let damages = 0;
  try {
    const reader = await readJournal(path, { onDamaged: () => damages++ });
    try {
      return { records: await recordsOf(reader), damages };
    } finally {
      await reader.close();
    }
  } catch (error) {
    return { records: [], damages, error: codeOf(error) };
  }
}

async function openAndCompare(
  path: string,
  state: JournalState,
  faults: string[],
): Promise<string> {
  let journal: SqliteJournal;
  try {
    journal = await openJournal(path);
  } catch (error) {
    return codeOf(error);
  }
  try {
    const records = await recordsOf(journal, journal.store);
    for (let at = 0; at < 12; at++) {
      const isThere = records.some((record) => record.includes(`"eventId":"u-${at}"`));
      const update = { eventId: `u-${at}`, channel: 'c', accountId: 'a', receivedAtMs: 0 };
      const { status } = await journal.accept(update);
      if (isThere !== (status === 'known')) faults.push(`u-${at} is ${status}`);
    }
    if (same(records, state.last)) return 'as it was';
    if (same(records, state.beforeLast)) return 'without its last transaction';
    faults.push('opened, and it is neither as it was nor as it was one transaction before');
    return 'wrong';
  } catch (error) {
    faults.push(`opened, and then ${String(error)}`);
    return 'wrong';
  } finally {
    await journal.close();
  }
}

async function repairAndCompare(
  path: string,
  state: JournalState,
  faults: string[],
): Promise<{ repair: string; kept: number }> {
  const { signal } = new AbortController();
  let report: Awaited<ReturnType<typeof repairJournal>>;
  try {
    report = await repairJournal(path, 'x', signal);
  } catch (error) {
    return { repair: codeOf(error), kept: 0 };
  } finally {
    for (const suffix of ['', '-wal', '.jsonl'])
      rmSync(`${path}.damaged-x${suffix}`, { force: true });
  }
  if (report.problems.length === 0) faults.push('repaired, and nothing was said to be wrong');
  if ((await journalProblems(path, signal)).length > 0)
    faults.push('repaired, and it is still damaged');
  const journal = await openJournal(path);
  const records = await recordsOf(journal, journal.store);
  for (const record of records)
    if (!state.ever.has(record) && !record.endsWith('"none"'))
      faults.push(`repaired, and it has ${record.slice(0, 200)}`);
  await journal.close();
  return { repair: report.status, kept: records.filter((one) => !one.endsWith('"none"')).length };
}

function isOneOf(
  records: Records,
  { last, beforeLast }: JournalState,
  which: (record: string) => boolean,
): boolean {
  return same(records, last.filter(which)) || same(records, beforeLast.filter(which));
}

function same(one: Records, other: Records): boolean {
  return one.length === other.length && one.every((record, at) => record === other[at]);
}

function codeOf(error: unknown): string {
  if (isSluiceError(error)) return error.code;
  throw error;
}
