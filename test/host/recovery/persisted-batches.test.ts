import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Journal, memoryJournal, openJournal } from '../../../src/journal/index.js';
import { type VirtualClock, virtualClock } from '../../../src/testing/index.js';
import { type BatchLab, batchLab, turns, withinMs } from '../../support/batch-lab.js';
import { type MortalJournal, mortalJournal } from '../../support/mortal-journal.js';
import { scriptedChannel } from '../../support/scripted-channel.js';

const kept: readonly [string, (clock: VirtualClock) => Promise<Journal>][] = [
  ['in memory', async (clock) => memoryJournal({ clock })],
  ['in a file', (clock) => openJournal(':memory:', { clock })],
];

/** The updates of a journal as `updateId: outcome or state`, in order. */
async function statesOf(journal: Journal): Promise<string[]> {
  const all = await journal.updates();
  return all.map(({ updateId, state, outcome }) => `${updateId}: ${outcome ?? state} ${state}`);
}

/** Lets a host work until the journal has nothing open. */
async function finish(lab: BatchLab, journal: Journal): Promise<void> {
  for (let at = 0; at < 60; at++) {
    const open = await journal.updates({ states: ['accepted', 'handling'], limit: 1 });
    if (open.length === 0) return;
    await lab.pass(withinMs);
  }
}

describe.each(kept)('messages that join, with a journal %s', (_, journalOf) => {
  it('are left by a host that stops while they wait, and joined by the next at once (durability §10.4)', async () => {
    const clock = virtualClock();
    const journal = await journalOf(clock);
    const first = await batchLab({ clock, journal: mortalJournal(journal) });
    await first.tell('one');
    await first.tell('two');
    const stopping = first.host.stop({ timeoutMs: 60_000 });
    await turns();
    expect((await stopping).drained).toBe(true);
    expect(first.prompts).toEqual([]);
    expect(await statesOf(journal)).toEqual([
      'u-one: accepted accepted',
      'u-two: accepted accepted',
    ]);
    await clock.advance(withinMs);
    await using next = await batchLab({ clock, journal });
    await next.pass(0);
    expect(next.prompts).toEqual(['one\n\ntwo']);
    expect(await statesOf(journal)).toEqual(['u-one: answered ended', 'u-two: joined ended']);
  });

  it('are grouped by the setting of the host that begins them (durability §10.1)', async () => {
    const clock = virtualClock();
    const journal = await journalOf(clock);
    const first = await batchLab({ clock, journal: mortalJournal(journal) });
    for (const text of ['one', 'two', 'three']) {
      await first.tell(text);
      if (text === 'one') await first.pass(200);
    }
    await first.host.stop();
    await clock.advance(5_000);
    const ingress = { joinWithinMs: { scripted: withinMs, 'scripted/default': 100 } };
    await using next = await batchLab({ clock, journal, ingress });
    await next.pass(0);
    await next.pass(0);
    expect(next.prompts).toEqual(['one', 'two\n\nthree']);
  });

  it('are given to their leader by each host that begins it, whatever its setting (durability §10.5)', async () => {
    const clock = virtualClock();
    const journal = await journalOf(clock);
    const mortal = mortalJournal(journal);
    const first = await batchLab({
      clock,
      journal: mortal,
      answer: () => new Promise(() => undefined),
    });
    await first.tell('one');
    await first.tell('two');
    await first.pass(withinMs);
    await first.tell('three');
    expect(first.prompts).toEqual(['one\n\ntwo']);
    const [leader, two, three] = await journal.updates();
    expect([leader?.state, two?.state, three?.state]).toEqual(['handling', 'accepted', 'accepted']);
    expect([two?.joinedTo, three?.joinedTo]).toEqual([leader?.eventId, undefined]);
    expect(two?.outcome).toBeUndefined();
    mortal.kill();
    await clock.advance(20_000);
    await using next = await batchLab({ clock, journal, ingress: {} });
    await finish(next, journal);
    expect(next.prompts).toEqual(['one\n\ntwo', 'three']);
    expect(await statesOf(journal)).toEqual([
      'u-one: answered ended',
      'u-two: joined ended',
      'u-three: answered ended',
    ]);
  });

  it('are dead letters with their leader, and retry of it gives it the same messages (durability §10.7)', async () => {
    const clock = virtualClock();
    const journal = await journalOf(clock);
    let isBroken = true;
    const answer = (prompt: string): string => {
      if (isBroken) throw new Error('the model is down');
      return `answer to ${prompt}`;
    };
    const live = () => batchLab({ clock, journal: mortalJournal(journal), answer });
    const first = await live();
    for (const text of ['one', 'two', 'three']) await first.tell(text);
    await first.pass(withinMs);
    expect(await statesOf(journal)).toEqual([
      'u-one: failed dead',
      'u-two: joined dead',
      'u-three: joined dead',
    ]);
    const [leader, two, three] = await journal.updates();
    expect(two?.reason).toBe(`it joined ${leader?.eventId}`);
    expect(two?.body).toContain('two');
    expect(first.host.stats()).toMatchObject({ deadLetters: 3, joined: 2 });
    await first.host.stop();
    expect(await journal.retry(leader?.eventId ?? '')).toBe(true);
    expect((await journal.updates()).map(({ joinedTo }) => joinedTo)).toEqual([
      undefined,
      leader?.eventId,
      leader?.eventId,
    ]);
    const second = await live(); // fails again
    await finish(second, journal);
    expect(second.prompts).toEqual(['one\n\ntwo\n\nthree']);
    await second.host.stop();
    isBroken = false;
    expect(await journal.retry(three?.eventId ?? '')).toBe(true);
    const third = await live();
    await finish(third, journal);
    expect(third.prompts).toEqual(['three']); // alone
    await third.host.stop();
    expect(await journal.retry(leader?.eventId ?? '')).toBe(true);
    await using last = await live();
    await finish(last, journal);
    expect(last.prompts).toEqual(['one\n\ntwo']);
    expect(await statesOf(journal)).toEqual([
      'u-one: answered ended',
      'u-two: joined ended',
      'u-three: answered ended',
    ]);
    expect((await journal.updates()).map(({ body }) => body)).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
  });

  it('are dead letters with a leader that was begun too often (durability §7.5, durability §10.7)', async () => {
    const clock = virtualClock();
    const journal = await journalOf(clock);
    for (let death = 0; death < 2; death++) {
      const mortal = mortalJournal(journal);
      const answer = () => new Promise<string>(() => undefined);
      const lab = await batchLab({ clock, journal: { opened: mortal, maxAttempts: 2 }, answer });
      if (death === 0) for (const text of ['one', 'two']) await lab.tell(text);
      await lab.pass(15_000);
      expect(lab.prompts).toEqual(['one\n\ntwo']);
      mortal.kill();
    }
    await using last = await batchLab({ clock, journal: { opened: journal, maxAttempts: 2 } });
    await last.pass(15_000);
    expect(await statesOf(journal)).toEqual(['u-one: failed dead', 'u-two: joined dead']);
  });

  it('fail alone if they fail at their stages of ingress (durability §10.6)', async () => {
    const clock = virtualClock();
    const journal = await journalOf(clock);
    let isOld = true;
    const decode = (raw: unknown) => {
      const { text } = raw as { readonly text: string };
      return text === 'two' && !isOld
        ? ({ kind: 'ignored', reason: 'it is nothing any more' } as const)
        : undefined;
    };
    const mortal = mortalJournal(journal);
    const answer = () => new Promise<string>(() => undefined);
    const channel = scriptedChannel({ decode });
    const first = await batchLab({ clock, journal: mortal, answer, channel });
    for (const text of ['one', 'two', 'three']) await first.tell(text);
    await first.pass(withinMs);
    mortal.kill();
    isOld = false;
    await using next = await batchLab({ clock, journal, channel: scriptedChannel({ decode }) });
    await finish(next, journal);
    expect(next.prompts).toEqual(['one\n\nthree']);
    const [, two] = await journal.updates();
    expect(two).toMatchObject({ state: 'dead', outcome: 'failed' });
    expect(two?.body).toContain('two');
    expect(await statesOf(journal)).toEqual([
      'u-one: answered ended',
      'u-two: failed dead',
      'u-three: joined ended',
    ]);
  });

  it('are handled on their own if their leader ends without a turn (durability §10.7)', async () => {
    const clock = virtualClock();
    const journal = await journalOf(clock);
    const mortal = mortalJournal(journal);
    const answer = () => new Promise<string>(() => undefined);
    const first = await batchLab({ clock, journal: mortal, answer });
    for (const text of ['one', 'two']) await first.tell(text);
    await first.pass(withinMs);
    mortal.kill();
    const channel = scriptedChannel({
      decode: (raw) =>
        (raw as { readonly text: string }).text === 'one'
          ? { kind: 'ignored', reason: 'it is nothing any more' }
          : undefined,
    });
    await using next = await batchLab({ clock, journal, channel });
    await finish(next, journal);
    expect(next.prompts).toEqual(['two']);
    expect(await statesOf(journal)).toEqual(['u-one: ignored ended', 'u-two: answered ended']);
  });
});

const lasting = {
  maxAttempts: 50, // more than there are deaths: none becomes a dead letter
  lastAttemptAfterMs: 0,
} as const;

/** A message of a generated day: after so many milliseconds, one of two people writes in one conversation. */
interface Arrival {
  readonly afterMs: number;
  readonly who: 'ada' | 'bob';
  readonly isCommand?: boolean;
}

async function say(lab: BatchLab, nth: number, { who, isCommand }: Arrival): Promise<void> {
  const text = isCommand === true ? '/help' : `m${nth}`;
  await lab.tell({ text, from: who, conversation: 'scripted:both' }, `u-${nth}`);
}

const channelOf = () =>
  scriptedChannel({ deduplicatesSends: true, resendPolicy: { ambiguous: 'resend' } });

/**
 * Lets hosts live through a day. Each of them but the last is killed at a write; what was not persisted comes again. Then it checks that
 * each update has one end, and that each text is in one turn, however often that was begun.
 *
 * @param killedAt the writes at which hosts are killed, one after the other: from the first write of each.
 * @returns whether the last of these was killed.
 */
async function liveThrough(
  journal: Journal,
  clock: VirtualClock,
  arrivals: readonly Arrival[],
  killedAt: readonly number[],
): Promise<boolean> {
  const prompts: string[] = [];
  let isKilled = false;
  const start = async (nth: number | undefined): Promise<[BatchLab, MortalJournal]> => {
    isKilled = false;
    let writes = 0;
    const mortal = mortalJournal(journal, () => {
      if (++writes !== nth) return undefined;
      isKilled = true;
      mortal.kill();
      return undefined;
    });
    const own = { clock, journal: { opened: mortal, ...lasting }, prompts, channel: channelOf() };
    return [await batchLab(own), mortal];
  };
  const deaths = [...killedAt];
  let [lab] = await start(deaths.shift());
  const revive = async (): Promise<void> => {
    if (isKilled && deaths.length > 0) [lab] = await start(deaths.shift());
  };
  for (const [nth, arrival] of arrivals.entries()) {
    for (let left = arrival.afterMs; left > 0; left -= 500) await lab.pass(Math.min(left, 500));
    await revive();
    await say(lab, nth, arrival);
    await revive();
  }
  for (let at = 0; at < 30 && !isKilled; at++) await lab.pass(withinMs);
  const wasKilled = isKilled;
  if (!isKilled) await lab.host.stop({ timeoutMs: 0 });
  [lab] = await start(undefined);
  for (const [nth, arrival] of arrivals.entries()) await say(lab, nth, arrival); // they come again
  for (let at = 0; at < 60; at++) {
    const open = await journal.updates({ states: ['accepted', 'handling'], limit: 1 });
    if (open.length === 0) break;
    await lab.pass(withinMs);
  }
  const all = await journal.updates();
  expect(all).toHaveLength(arrivals.length);
  expect(all.filter(({ state }) => state !== 'ended')).toEqual([]);
  const at = new Map(all.map((row, place) => [row.updateId ?? '', { ...row, place }]));
  const placeOf = (text: string): number => at.get(`u-${text.slice(1)}`)?.place ?? -1;
  const groups = [...new Set(prompts)].map((prompt) => prompt.split('\n\n'));
  groups.sort(([a = ''], [b = '']) => placeOf(a) - placeOf(b));
  const texts = all
    .map(({ updateId = '' }) => Number(updateId.slice(2)))
    .filter((nth) => arrivals[nth]?.isCommand !== true)
    .map((nth) => `m${nth}`);
  expect(groups.flat()).toEqual(texts); // each in one turn, in order
  for (const group of groups) {
    const [first = '', ...others] = group;
    expect(at.get(`u-${first.slice(1)}`)?.outcome).toBe('answered');
    for (const [behind, text] of others.entries()) {
      const row = at.get(`u-${text.slice(1)}`);
      expect(row?.outcome).toBe('joined');
      expect(row?.reason).toBe(`it joined ${at.get(`u-${first.slice(1)}`)?.eventId}`);
      expect(placeOf(text)).toBe(placeOf(first) + behind + 1);
    }
    const people = group.map((text) => arrivals[Number(text.slice(1))]?.who);
    expect(new Set(people).size).toBe(1);
  }
  if (killedAt.length === 0)
    for (const [nth, one] of groups.entries()) {
      const next = at.get(`u-${groups[nth + 1]?.[0]?.slice(1)}`);
      const last = at.get(`u-${one.at(-1)?.slice(1)}`);
      if (next === undefined || last === undefined || next.place !== last.place + 1) continue;
      const who = (text = '') => arrivals[Number(text.slice(1))]?.who;
      if (who(groups[nth + 1]?.[0]) === who(one[0]))
        expect(next.acceptedAtMs - last.acceptedAtMs).toBeGreaterThanOrEqual(withinMs);
    }
  await lab[Symbol.asyncDispose]();
  return wasKilled;
}

it.each(kept)(
  'a host that is killed at any write of messages that join loses and doubles none, with a journal %s (durability §10.5, durability §10.7)',
  async (_, journalOf) => {
    const day: readonly Arrival[] = [
      { afterMs: 0, who: 'ada' },
      { afterMs: 300, who: 'ada' },
      { afterMs: 300, who: 'ada' },
      { afterMs: 300, who: 'ada', isCommand: true },
      { afterMs: 300, who: 'ada' },
      { afterMs: 300, who: 'ada' },
    ];
    let deaths = 0;
    for (let nth = 1; ; nth++) {
      const clock = virtualClock();
      const journal = await journalOf(clock);
      const wasKilled = await liveThrough(journal, clock, day, [nth]);
      await journal.close();
      if (!wasKilled) break;
      deaths++;
    }
    expect(deaths).toBeGreaterThan(15);
  },
);

const arrival = fc.record<Arrival>({
  afterMs: fc.constantFrom(0, 1, 300, 999, 1_000, 1_001, 2_500),
  who: fc.constantFrom('ada', 'ada', 'bob'),
  isCommand: fc.constantFrom(false, false, false, true),
});

it.each(kept)(
  'each message ends once, is in one turn, and in order, whenever hosts are killed, with a journal %s (durability §10.3, durability §10.5)',
  async (_, journalOf) => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(arrival, { minLength: 1, maxLength: 10 }),
        fc.array(fc.integer({ min: 1, max: 40 }), { maxLength: 3 }),
        async (arrivals, killedAt) => {
          const clock = virtualClock();
          const journal = await journalOf(clock);
          await liveThrough(journal, clock, arrivals, killedAt);
          await journal.close();
        },
      ),
      { numRuns: Number(process.env['JOIN_RUNS'] ?? 15) },
    );
  },
);
