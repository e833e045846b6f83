import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { journalError } from '../../../src/journal/errors.js';
import type { Store } from '../../../src/journal/index.js';
import {
  type Journal,
  memoryJournal,
  memoryStore,
  openJournal,
} from '../../../src/journal/index.js';
import type { AgentProvider } from '../../../src/sdk/stream/index.js';
import { type VirtualClock, virtualClock } from '../../../src/testing/index.js';
import { failingJournal, type JournalFault } from '../../support/failing-journal.js';
import { testFolder } from '../../support/folder.js';
import { type HostLab, hostLab } from '../../support/host-lab.js';
import { scriptedChannel } from '../../support/scripted-channel.js';
import { sharedJournal } from '../../support/shared-journal.js';
import { type Shown, streamingChannel } from '../../support/streaming-channel.js';
import { said, toolEnd, toolStart } from '../../support/turn-lab.js';

/** Says something, uses a tool, and answers: three writes of its turn, and two sends. */
const worker: AgentProvider = {
  id: 'worker',
  models: ['m'],
  toolGate: 'enforce',
  async *run({ prompt, gate, runId }) {
    yield { type: 'agent_start' };
    yield* said(`Looking at ${prompt}.`, { calls: [{ id: `${runId}-1`, name: 'read' }] });
    yield toolStart(`${runId}-1`);
    await gate({ toolCallId: `${runId}-1`, toolName: 'read', args: {} });
    yield toolEnd(`${runId}-1`);
    yield* said(`Done with ${prompt}.`);
    yield { type: 'agent_end', messages: [] };
  },
};

const messages = [
  ['1', 'one', 'a'],
  ['2', 'two', 'a'],
  ['3', '/reset', 'b'],
  ['4', 'four', 'b'],
] as const;

/** The texts that people get, once each. */
const texts = ['one', 'two', 'four'].flatMap((text) => [
  `Looking at ${text}.`,
  `Done with ${text}.`,
]);

interface Kind {
  readonly journal: Journal;
  readonly store: Store;
  close(): Promise<void>;
}

const kinds: Readonly<Record<string, (clock: VirtualClock) => Promise<Kind>>> = {
  memory: async (clock) => ({
    ...{ journal: memoryJournal({ clock }), store: memoryStore() },
    close: async () => undefined,
  }),
  'a file': async (clock) => {
    const journal = await openJournal(join(testFolder(), 'sluice.db'), { clock });
    return { journal, store: journal.store, close: () => journal.close() };
  },
  'a journal that hosts share': async (clock) => {
    const shared = sharedJournal(clock);
    shared.give('b', shared.all);
    return { journal: shared.of('b'), store: memoryStore(), close: async () => undefined };
  },
};

/** What a person sees at the end, and has to see once. */
interface Screen {
  readonly channel: ReturnType<typeof scriptedChannel>;
  texts(): readonly string[];
}

const channels: Readonly<Record<string, () => Screen>> = {
  'sends whole texts': () => {
    const channel = scriptedChannel({ everyHost: true });
    return { channel, texts: () => channel.sent.map(({ content }) => content) };
  },
  'shows texts that grow': () => {
    const screen: Shown[] = [];
    const channel = streamingChannel({ everyHost: true, endsPreviews: { screen } });
    return { channel, texts: () => screen.map(({ text }) => text) };
  },
};

const turns = async (): Promise<void> => {
  for (let turn = 0; turn < 4; turn++) await new Promise(setImmediate);
};

/** Brings the messages, each until it is acknowledged, until all of them have ended. */
async function bringAll(lab: HostLab, clock: VirtualClock): Promise<void> {
  const isOver = () => lab.ends.length >= messages.length;
  for (let at = 0; at < 3_000; at++) {
    const acknowledged = new Set(lab.channel.acknowledged.map(({ updateId }) => updateId));
    if (at % 10 === 0)
      for (const [id, text, conversation] of messages)
        if (!acknowledged.has(id)) {
          void lab.channel.receive({ text, conversation }, id);
          await turns();
        }
    await turns();
    if (isOver() && at % 10 === 9) break;
    await clock.advance(100);
  }
  for (let at = 0; at < 60; at++) {
    await clock.advance(500); // nothing more comes, and what is owed to the journal is there
    await turns();
  }
}

async function live(
  kindOf: string,
  channelOf: string,
  fault: JournalFault,
): Promise<string | undefined> {
  const clock = virtualClock();
  const kind = await (kinds[kindOf] as (typeof kinds)[string])(clock); // a name of the table
  const { channel, texts: shown } = (channels[channelOf] as (typeof channels)[string])();
  const { journal, store, begin, hit } = failingJournal(kind.journal, kind.store, clock, fault);
  const lab = await hostLab({
    ...{ clock, channel, journal, store },
    agents: [{ id: 'main', provider: worker }],
  });
  begin();
  await bringAll(lab, clock);
  const ends = lab.ends.map(
    ({ updateId, status, reason }) => `${updateId} ${status} ${reason ?? ''}`,
  );
  expect(ends.toSorted()).toEqual(['1 answered ', '2 answered ', '3 command ', '4 answered ']);
  const seen = shown().filter((text) => texts.includes(text));
  expect(seen.toSorted()).toEqual(texts.toSorted());
  expect(shown().filter((text) => !texts.includes(text))).toHaveLength(1); // of /reset
  expect(lab.host.stats().deadLetters).toBe(0);
  const rows = await kind.journal.updates();
  expect(rows.map(({ state }) => state)).toEqual(messages.map(() => 'ended'));
  const open = (await kind.journal.sends()).filter(({ endedAtMs }) => endedAtMs === undefined);
  expect(open).toEqual([]);
  await lab[Symbol.asyncDispose]();
  await kind.close();
  return hit();
}

const faults = fc.record<JournalFault>({
  from: fc.integer({ min: 1, max: 60 }),
  of: fc.constantFrom('call', 'kind', 'all'),
  ms: fc.constantFrom(50, 400, 1_500, 6_500, 20_000),
  isMade: fc.boolean(),
  code: fc.constantFrom('database-busy', 'database-io', 'database-full'),
});

describe.each(Object.keys(kinds))('a fault of %s', (kind) => {
  it.each(Object.keys(channels))(
    'is the end of no message, whichever call it begins with, for whatever time, also if what was written is there: a channel that %s (durability §6.13)',
    async (channel) => {
      const hits = new Set<string>();
      await fc.assert(
        fc.asyncProperty(faults, async (fault) => {
          const hit = await live(kind, channel, fault);
          if (hit !== undefined) hits.add(hit);
        }),
        { numRuns: Number(process.env['FAULT_RUNS'] ?? 30), endOnFailure: true },
      );
      expect(hits.size).toBeGreaterThan(2);
    },
  );
});

it.each([
  ['is not made', false],
  ['is made, and has no answer', true],
])(
  'a call of a journal in memory that %s, each in turn and once, is the end of no message (durability §6.13)',
  async (_, isMade) => {
    let hit: string | undefined = '';
    const hits = new Set<string>();
    for (let from = 1; hit !== undefined; from++) {
      const fault = { from, of: 'call', ms: 0, isMade, code: 'database-io' } as const;
      hit = await live('memory', 'sends whole texts', fault);
      if (hit !== undefined) hits.add(hit);
    }
    for (const name of [
      'accept',
      'endUpdate',
      'prepare',
      'endSend',
      'appendMessage',
      'loadSession',
    ])
      expect([...hits]).toContain(name);
  },
);

it('a beginning whose answer was lost counts once: the next one may be the last attempt (durability §6.13, durability §7.8)', async () => {
  const memory = memoryJournal();
  const begun: number[] = [];
  let isLost = true;
  const journal: Journal = {
    ...memory,
    accept: (update, _, mostOpen) => memory.accept(update, false, mostOpen), // it begins by a write of its own
    begin: async (...given) => {
      const answer = await memory.begin(...given);
      begun.push(answer.attempts);
      if (isLost) throw journalError('database-io', { path: 'a server', problem: 'no answer' });
      return answer;
    },
  };
  await using lab = await hostLab({ journal: { opened: journal, maxAttempts: 1 } });
  void lab.channel.receive({ text: 'hello' }, '1');
  await lab.clock.advance(350); // four tries
  isLost = false;
  await lab.clock.advance(1_000);
  expect(begun).toEqual([1, 1, 1, 1, 1]);
  expect(lab.texts()).toEqual(['hello']);
  expect(await memory.updates()).toMatchObject([{ state: 'ended', attempts: 1 }]);
});
