import { describe, expect, it } from 'vitest';
import { echoProvider } from '../../../src/agent/index.js';
import { type Journal, memoryJournal } from '../../../src/journal/index.js';
import { eventIdOf } from '../../../src/journal/internal.js';
import type { AgentProvider } from '../../../src/sdk/stream/index.js';
import { type HostLab, type HostLabOptions, hostLab } from '../../support/host-lab.js';
import { mortalJournal } from '../../support/mortal-journal.js';

const full = new Error('the disk is full');

/** A journal of which one beginning fails, and one reading when it is told to. */
function failingJournal(nthBegin: number) {
  const memory = memoryJournal();
  let isUnreadable = false;
  const journal: Journal = {
    ...mortalJournal(memory, (write, nth) =>
      write === 'begin' && nth === nthBegin ? full : undefined,
    ),
    updates: async (filter) => {
      if (!isUnreadable) return memory.updates(filter);
      isUnreadable = false;
      throw new Error('the disk cannot be read');
    },
  };
  const failReading = (): void => {
    isUnreadable = true;
  };
  return { journal, failReading, hasFailed: () => !isUnreadable };
}

async function slowLab(turnMs: number, options: HostLabOptions): Promise<HostLab> {
  const echo = echoProvider();
  const provider: AgentProvider = {
    ...echo,
    async *run(request) {
      await new Promise<void>((resolve) => lab.clock.setTimeout(resolve, turnMs));
      yield* echo.run(request);
    },
  };
  const lab = await hostLab({ agents: [{ id: 'main', provider }], ...options });
  return lab;
}

const receive = (lab: HostLab, text: string, conversation = 'one') =>
  void lab.channel.receive({ text, conversation }, text);

async function seconds(lab: HostLab, count: number): Promise<void> {
  for (let second = 0; second < count; second++) await lab.clock.advance(1_000);
}

describe('what comes after a message that could not be begun', () => {
  it('waits for it, also if it is active and waits for its place (durability §6.6)', async () => {
    const { journal } = failingJournal(2);
    const options = { journal, lanes: { maxRunning: 1, whenFull: 'wait' as const } };
    await using lab = await slowLab(3_000, options);
    receive(lab, 'x', 'zero'); // runs for three seconds
    await lab.clock.advance(10);
    receive(lab, 'a'); // cannot be begun when its place is free
    receive(lab, 'b');
    receive(lab, 'y', 'two'); // has its place before "b"
    await lab.clock.advance(10);
    await seconds(lab, 20);
    expect(lab.texts()).toEqual(['x', 'y', 'a', 'b']);
    expect(lab.host.stats()).toMatchObject({ waiting: 0 });
  });

  it('waits for it, also if it is new and the journal could not be read meanwhile (durability §6.6)', async () => {
    const { journal, failReading, hasFailed } = failingJournal(2);
    await using lab = await slowLab(10, { journal });
    receive(lab, 'free');
    receive(lab, 'a'); // is begun apart
    await lab.clock.advance(20);
    failReading();
    await lab.clock.advance(1_000); // the host looks at its journal
    expect(hasFailed()).toBe(true);
    receive(lab, 'b');
    await seconds(lab, 5);
    expect(lab.texts()).toEqual(['free', 'a', 'b']);
  });
});

it('what is new waits for what is parked in its conversation, also if the journal could not be read (durability §8.8)', async () => {
  const { journal, failReading, hasFailed } = failingJournal(0);
  await using lab = await slowLab(500, { journal });
  receive(lab, 'a');
  receive(lab, 'b');
  await lab.clock.advance(10);
  failReading();
  await lab.clock.advance(600); // "a" has ended, and "b" could not be read
  expect(hasFailed()).toBe(true);
  receive(lab, 'c');
  await seconds(lab, 5);
  expect(lab.texts()).toEqual(['a', 'b', 'c']);
});

it.each([undefined, 'wait', 'refuse', 'drop'] as const)(
  'what is new waits for a suspect of its conversation, whatever is done when that is full: %s (durability §7.1, durability §7.7)',
  async (whenFull) => {
    const journal = memoryJournal();
    const idOf = (text: string) => eventIdOf('scripted', 'default', text);
    const about = { channel: 'scripted', accountId: 'default', receivedAtMs: 0 };
    const body = JSON.stringify({ text: 'a', conversation: 'one' });
    await journal.accept({ eventId: idOf('a'), ...about, updateId: 'a', body });
    for (let times = 0; times < 2; times++) await journal.begin(idOf('a')); // its last attempt is left
    await using lab = await hostLab({ journal, ...(whenFull && { lanes: { whenFull } }) });
    await lab.clock.advance(10);
    for (const text of ['b', 'c']) receive(lab, text);
    receive(lab, 'other', 'two');
    await lab.clock.advance(900);
    expect(lab.texts()).toEqual(['other']);
    await seconds(lab, 20);
    expect(lab.texts()).toEqual(['other', 'a', 'b', 'c']);
    expect(lab.host.stats()).toMatchObject({ waiting: 0 });
  },
);

it('what is new waits for what is open in its conversation, also while the journal is being read from its first row (durability §7.1, durability §8.8)', async () => {
  const memory = memoryJournal();
  let isChanged = false;
  let read = (): void => undefined;
  const isRead = new Promise<void>((resolve) => {
    read = resolve;
  });
  const journal: Journal = {
    ...memory,
    changedOutside: () => isChanged,
    updates: async (filter) => {
      const rows = await memory.updates(filter);
      if (isChanged && filter?.parts !== undefined && filter.lane === undefined) await isRead;
      return rows;
    },
  };
  await using lab = await hostLab({ journal });
  const about = { channel: 'scripted', accountId: 'default', receivedAtMs: 0 };
  for (const text of ['a', 'b']) {
    const lane = JSON.stringify(['scripted', 'default', text, '']);
    const body = JSON.stringify({ text, conversation: text });
    await memory.accept({ eventId: text, ...about, updateId: text, lane, body });
  }
  isChanged = true; // by another, which the look hears of
  await lab.clock.advance(1_000);
  receive(lab, 'c', 'b');
  await lab.clock.advance(10);
  isChanged = false;
  read();
  await seconds(lab, 2);
  const texts = lab.texts();
  expect(texts.toSorted()).toEqual(['a', 'b', 'c']);
  expect(texts.indexOf('b')).toBeLessThan(texts.indexOf('c')); // a is of another conversation
});
