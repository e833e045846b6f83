import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import type { JournalReader, SendRecord, UpdateRecord } from '../../src/journal/index.js';
import { compiled } from '../support/compiled.js';
import { Operator, type OperatorPlace } from './operator.js';
import { acts, type Moment, Provider, type ProviderUpdate } from './provider.js';

/** The place of a journal that hosts are killed on. */
export interface KilledJournal extends AsyncDisposable {
  /** The journal for `host.mjs`: a path, or the address of a PostgreSQL. */
  readonly name: string;
  readonly place: OperatorPlace;
  read(): Promise<JournalReader>;
}

/** The rounds of a suite, and the journals that it makes. */
export interface KillingOptions {
  readonly rounds: number;
  readonly make: () => Promise<KilledJournal>;
  /** The journal drops what is more than a bound of bytes. */
  readonly hasBound: boolean;
  /** As for `Provider`. */
  readonly slowness?: number;
}

const kinds = ['plain', 'plain', 'plain', 'plain', 'plain', 'silent', 'veto', 'fail'] as const;
const perRound = 12;
const all = { limit: 1_000_000 };

/** Numbers that look random, the same for each seed: a run that fails can be had again. */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

function momentOf(random: () => number): Moment {
  const on = acts[Math.floor(random() * acts.length)] ?? 'send';
  const most = { send: 6, answer: 6, ack: 8, show: 4, edit: 12, remove: 1, tool: 2 }[on];
  const nth = 1 + Math.floor(random() * most);
  return random() < 0.3 ? { afterMs: random() * 200 } : { on, nth };
}

function updatesOf(round: number, random: () => number): ProviderUpdate[] {
  const updates = Array.from({ length: perRound }, (_, at) => {
    const kind = kinds[Math.floor(random() * kinds.length)] ?? 'plain';
    const id = `${round}-${at}`;
    const conversation = `c-${Math.floor(random() * 8)}`;
    return { id, raw: { text: `${kind} ${id}`, conversation } };
  });
  // a conversation of its own: whoever writes there waits, and nobody else
  if (round % 10 === 0)
    updates.push({
      id: `${round}-p`,
      raw: { text: `poison ${round}-p`, conversation: `p-${round}` },
    });
  return updates;
}

async function reading<T>(
  journal: KilledJournal,
  read: (reader: JournalReader) => Promise<T>,
): Promise<T> {
  const reader = await journal.read();
  try {
    return await read(reader);
  } finally {
    await reader.close();
  }
}

interface Killed {
  readonly provider: Provider;
  readonly brought: readonly ProviderUpdate[];
  readonly updates: readonly UpdateRecord[];
  readonly sends: readonly SendRecord[];
  readonly kills: number;
  /** When the host of each round was killed. */
  readonly moments: readonly Moment[];
  /** Of the dispatches: the number of the last one that the first round wrote, and of the oldest that is kept at the end. */
  readonly dispatches: { readonly lastOfFirstRound: number; readonly oldestKept: number };
  readonly operator: Operator;
}

/** Kills a host again and again while it works, and then lets others after it finish. */
async function killAgainAndAgain(
  { rounds, make, slowness }: KillingOptions,
  policy: 'fail' | 'resend',
  seed: number,
): Promise<Killed> {
  const program = await compiled(fileURLToPath(new URL('host.mjs', import.meta.url)));
  await using journal = await make();
  // what has not ended and what must be kept has room; the dispatches of each round do not: they are dropped meanwhile
  const provider = new Provider(program, journal.name, policy, 500_000 + rounds * 30_000, slowness);
  const operator = new Operator(journal.place);
  const random = seeded(seed);
  const brought: ProviderUpdate[] = [];
  const moments: Moment[] = [];
  let kills = 0;
  let lastOfFirstRound = 0;
  for (; kills < rounds / 2; kills++) {
    const updates = updatesOf(kills, random);
    brought.push(...updates);
    const moment = momentOf(random);
    moments.push(moment);
    await provider.round(updates, moment);
    if (rounds >= 200 && kills % 50 === 49)
      console.log(`${policy}: ${kills + 1} rounds, ${provider.waiting} messages wait`);
    if (kills === 0) {
      const written = await reading(journal, (reader) => reader.dispatches(all));
      lastOfFirstRound = written.at(-1)?.seq ?? 0;
    }
    operator.look(); // beside the hosts that follow
  }
  await operator.stop();
  const open = () =>
    reading(journal, (reader) => reader.updates({ states: ['accepted', 'handling'], ...all }));
  // a long run has left many: hosts follow each other as long as each of some has brought a few of them to their end
  let least = Number.POSITIVE_INFINITY;
  for (let vain = 0; vain < 40; vain++) {
    const left = provider.waiting + (await open()).length;
    if (left === 0) break;
    if (left < least) vain = 0;
    least = Math.min(least, left);
    await provider.round([], { afterMs: 1_500 });
    kills++;
  }
  const { updates, sends, oldest } = await reading(journal, async (reader) => ({
    updates: await reader.updates(all),
    sends: await reader.sends(all),
    oldest: await reader.dispatches({ limit: 1 }),
  }));
  const dispatches = { lastOfFirstRound, oldestKept: oldest[0]?.seq ?? 0 };
  return { provider, brought, updates, sends, kills, moments, dispatches, operator };
}

/** Says of a failure what is needed to judge it: the moments of the rounds that it names, their rows, and what has not ended. */
function aboutFailure(
  error: unknown,
  { provider, updates, sends, kills, moments }: Killed,
): string {
  const { message, diff, actual } = Object(error);
  const named = `${message} ${diff} ${actual}`.matchAll(/\b(\d+)-(?:\d+|p)\b/g);
  const rounds = [...new Set([...named].map(([, round]) => Number(round)))].slice(0, 10);
  const isNamed = ({ updateId = '' }: UpdateRecord) =>
    rounds.includes(Number.parseInt(updateId, 10));
  const rows = updates.filter((one) => isNamed(one) || one.state === 'handling').slice(0, 200);
  const ids = new Set<string | undefined>(rows.map(({ eventId }) => eventId));
  const count = <Row extends { readonly state: string }>(all: readonly Row[]) =>
    Object.fromEntries(countOf(all.map(({ state }) => state)));
  return JSON.stringify(
    {
      ...{ kills, waiting: provider.waiting, updates: count(updates), sends: count(sends) },
      killedAt: rounds.map((round) => ({ round, moments: moments.slice(round, round + 3) })),
      inFlight: rows.map(({ body: _, ...row }) => row),
      sendsOfThose: sends
        .filter(({ correlationId, state }) => ids.has(correlationId) || state === 'sending')
        .map(({ body: _, ...send }) => send),
    },
    undefined,
    1,
  );
}

const countOf = <T>(values: readonly T[]): Map<T, number> => {
  const counts = new Map<T, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return counts;
};

/** Kills hosts. kill -9 ends the process, not the machine: it does not show that the disk keeps what it says it has synced. */
export function describeKilledHosts(on: string, options: KillingOptions): void {
  const { rounds, hasBound } = options;
  describe.concurrent.each([
    ['deduplicates', 'resend', 7],
    ['does not deduplicate', 'fail', 11],
  ] as const)(
    `fault 34: hosts that are killed while they work, on a channel that %s, with a journal in ${on}`,
    (_, policy, seed) => {
      it(`lose nothing and double nothing (durability §9.1, §9.2, ${rounds / 2} rounds)`, {
        timeout: 600_000 + rounds * 60_000,
      }, async ({ onTestFailed }) => {
        const killed = await killAgainAndAgain(options, policy, seed);
        onTestFailed(({ task }) => console.log(aboutFailure(task.result?.errors?.[0], killed)));
        const { provider, brought, updates, sends, kills, dispatches, operator } = killed;
        const byUpdateId = new Map(updates.map((one) => [one.updateId, one]));

        // what was acknowledged is kept, once, and in the order in which it came
        expect(provider.acknowledged.size).toBe(brought.length);
        expect(updates).toHaveLength(brought.length);
        expect(byUpdateId.size).toBe(brought.length);
        expect(updates.map(({ updateId }) => updateId)).toEqual(brought.map(({ id }) => id));

        // each of them came to an end that can be named
        const allowed = {
          plain: ['answered'],
          silent: ['silent'],
          veto: ['cancelled'],
          fail: [],
          poison: [],
        };
        const unexplained = brought.filter(({ id, raw }) => {
          const { state, outcome = '', reason = '' } = byUpdateId.get(id) ?? {};
          const kind = raw.text.split(' ')[0] as keyof typeof allowed;
          if (state === 'dead') return reason === '';
          return state !== 'ended' || !(allowed[kind] as readonly string[]).includes(outcome);
        });
        expect(unexplained).toEqual([]);
        for (const { id, raw } of brought)
          if (raw.text.startsWith('poison'))
            expect(byUpdateId.get(id)?.reason).toMatch(/never came to an end/);
        const cancelled = sends.filter(({ state }) => state === 'cancelled');
        expect(cancelled.every(({ reason }) => reason === 'guard/no')).toBe(true);

        // each prepared send has one terminal state, and it is true
        expect(sends.filter(({ state }) => state === 'prepared' || state === 'sending')).toEqual(
          [],
        );
        expect(new Set(sends.map(({ sendId }) => sendId)).size).toBe(sends.length);
        const ownId = (key: string): string => key.replace(/-final$/, ''); // a final belongs to what opened it
        const arrived = countOf(provider.arrivals.map(({ key }) => key));
        const screen = [...provider.screen.values()];
        const finals = screen.filter(({ isFinal }) => isFinal);
        const out = new Set([...arrived.keys()].map(ownId).concat(finals.map(({ key }) => key)));
        const untrue = sends.filter(({ sendId, state, cause }) => {
          if (state === 'sent') return !out.has(sendId);
          return out.has(sendId) && cause !== 'ambiguous';
        });
        expect(untrue).toEqual([]);
        const bySendId = new Map(sends.map((one) => [one.sendId, one]));
        expect([...out].filter((key) => !bySendId.has(key))).toEqual([]);

        // M9: a preview that stays is one whose id or whose note was lost with its host: nobody could end it
        const previews = screen.filter(({ isFinal }) => !isFinal);
        expect(previews.map(({ key }) => bySendId.get(key)?.cause)).toEqual(
          previews.map(() => 'ambiguous'),
        );
        const withNotes = previews.filter(({ key }) => bySendId.get(key)?.shown !== undefined);
        expect(withNotes).toEqual([]);

        // no words came twice: as the provider counts them where it deduplicates, and at all where it does not
        const seen = new Set<string>();
        const shown = provider.arrivals.filter(({ key }) => {
          if (policy === 'resend' && seen.has(key)) return false;
          seen.add(key);
          return true;
        });
        const words = countOf(
          [...shown.map(({ content }) => content), ...finals.map(({ text }) => text)].filter(
            (text) => !/^failed:/.test(text),
          ),
        );
        expect([...words].filter(([, times]) => times > 1)).toEqual([]);

        // and whoever was answered has got both halves of the answer
        const answered = brought.filter(({ id }) => byUpdateId.get(id)?.outcome === 'answered');
        const missing = answered.filter(
          ({ raw }) => !words.has(`first ${raw.text}`) || !words.has(`last ${raw.text}`),
        );
        expect(missing).toEqual([]);
        const dead = updates.filter(({ state }) => state === 'dead');
        const ambiguous = sends.filter(({ cause }) => cause === 'ambiguous').length;
        const again = provider.arrivals.length - arrived.size;
        console.log(
          `${policy}: ${kills} kills, ${updates.length} messages, ${answered.length} answered, ${dead.length} dead letters, ` +
            `${sends.length} sends, ${ambiguous} ambiguous, ${again} sent again under their key, ` +
            `${finals.length} shown while they grew, ${previews.length} previews lost, ${provider.ended.completed} completed and ` +
            `${provider.ended.takenBack} taken back by the next host; killed at ${[...provider.killedAt].join(', ')}; ` +
            `beside them ${operator.looks} times sluice journal list, ${operator.retries} times retry`,
        );
        // retention went on beside all that: the dispatches of the first round are gone (durability §5.1)
        if (hasBound && rounds >= 8)
          expect(dispatches.oldestKept).toBeGreaterThan(Math.max(1, dispatches.lastOfFirstRound));
        // the operator's commands worked beside hosts that live and die
        expect(operator.problems).toEqual([]);
        expect(operator.looks).toBeGreaterThan(0);
        // the rounds were worth it: hosts died with active work, and of many rounds some in each way
        expect(updates.filter(({ attempts }) => attempts > 1).length).toBeGreaterThan(rounds / 4);
        if (rounds < 60) return;
        expect(policy === 'resend' ? again : ambiguous).toBeGreaterThan(0);
        expect(provider.ended.completed + provider.ended.takenBack).toBeGreaterThan(0);
        expect(provider.killedAt.size).toBeGreaterThan(Math.min(4, rounds / 20));
      });
    },
  );
}
