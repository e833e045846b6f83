import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type Journal,
  memoryJournal,
  memoryStore,
  openJournal,
} from '../../../src/journal/index.js';
import { cancel } from '../../../src/kernel/internal.js';
import { defineExtension, type ExtensionApi } from '../../../src/sdk/extension/index.js';
import type { AgentProvider, AgentRequest } from '../../../src/sdk/stream/index.js';
import { loadForTest } from '../../../src/testing/index.js';
import { actingLab } from '../../support/acting-lab.js';

const codeOf = (doing: Promise<unknown> | undefined): Promise<unknown> =>
  Promise.resolve(doing).then(
    () => 'done',
    (error: { code?: unknown }) => error.code,
  );

/** An agent that keeps the history of each turn, and waits for a word of the test before it ends. */
function remembering(until: () => Promise<void> = async () => undefined) {
  const histories: unknown[][] = [];
  const provider: AgentProvider = {
    id: 'remembering',
    models: ['m'],
    toolGate: 'enforce',
    async *run({ history }: AgentRequest) {
      histories.push(history.flatMap(({ role, content }) => (role === 'user' ? [content] : [])));
      await until();
      yield { type: 'agent_end', messages: [] };
    },
  };
  return { histories, agents: [{ id: 'main', provider }] };
}

/** The texts of a transcript that were injected. */
async function injectedIn(store: ReturnType<typeof memoryStore>, sessionKey: string) {
  const session = await store.loadSession(sessionKey);
  const all = session === undefined ? [] : await store.readTranscript(session.sessionId);
  return all.filter((entry) => entry['injectedBy'] !== undefined).map(({ content }) => content);
}

async function settled(isSo: () => boolean): Promise<void> {
  for (let turns = 0; turns < 500 && !isSo(); turns++) await new Promise(setImmediate);
}

describe('api.inject', () => {
  it.each<[string, unknown, unknown]>([
    ['no session', undefined, 'text'],
    ['the empty session', '', 'text'],
    ['half a character as its session', '\ud800', 'text'],
    ['no text', 'main', undefined],
    ['an object as its text', 'main', { text: 'x' }],
    ['a text without words', 'main', ' '],
  ])('refuses %s, and writes nothing (extensions-that-act §5.2)', async (_, sessionKey, text) => {
    const store = memoryStore();
    await using lab = await actingLab({ store });
    const injecting = lab.api.inject(sessionKey as string, text as string);
    expect(await codeOf(injecting)).toBe('bad-injection');
    await lab.clock.advance(1_000);
    expect([lab.ends, await injectedIn(store, 'main')]).toEqual([[], []]);
  });

  it('writes a text that the next turn has, as transcript.message.writing passes it (extensions-that-act §5.3)', async () => {
    const { histories, agents } = remembering();
    await using lab = await actingLab({
      agents,
      setup: (api) =>
        api.mutate('transcript.message.writing', 'loud', ({ payload: { message } }) =>
          message['injectedBy'] === 'acting'
            ? { message: { ...message, content: String(message.content).toUpperCase() } }
            : undefined,
        ),
    });
    const { sessionKey = '' } = await lab.say('hello');
    await lab.api.inject(sessionKey, 'the build has failed');
    await settled(() => lab.ends.length === 2);
    expect(lab.ends[1]).toMatchObject({ status: 'job', channel: 'sluice', sessionKey });
    await lab.say('and now?');
    expect(histories).toEqual([[], ['hello', 'THE BUILD HAS FAILED']]);
  });

  it('waits for the turn that runs in the session, and may be awaited by a handler of it (extensions-that-act §5.3)', async () => {
    let go = (): void => undefined;
    const going = new Promise<void>((resolve) => {
      go = resolve;
    });
    const { histories, agents } = remembering(() => going);
    let isInjected = false;
    const store = memoryStore();
    await using lab = await actingLab({
      agents,
      store,
      setup: (api) =>
        api.observe('agent.starting', 'inject', async ({ payload }) => {
          if (isInjected) return;
          await api.inject(payload.sessionKey ?? '', 'meanwhile');
          isInjected = true;
        }),
    });
    const saying = lab.say('hello');
    await settled(() => isInjected && histories.length === 1);
    expect(isInjected).toBe(true);
    go();
    const { sessionKey = '' } = await saying;
    await settled(() => lab.ends.length === 2);
    const session = await store.loadSession(sessionKey);
    const all = await store.readTranscript(session?.sessionId ?? '');
    expect(all.map(({ content }) => content)).toEqual(['hello', 'meanwhile']);
  });

  it('begins a session that nobody has written in (extensions-that-act §5.3)', async () => {
    const { histories, agents } = remembering();
    await using lab = await actingLab({ agents });
    const { sessionKey = '' } = await lab.say({ text: 'hello', conversation: 'scripted:eve' });
    const other = sessionKey.replace('eve', 'ada');
    await lab.api.inject(other, 'before all');
    await settled(() => lab.ends.length === 2);
    await lab.say('hello');
    expect(lab.of('session.started')).toHaveLength(2);
    expect(histories.at(-1)).toEqual(['before all']);
  });

  it('ends as cancelled if a veto keeps the text out (extensions-that-act §5.3)', async () => {
    await using lab = await actingLab({
      setup: (api) =>
        api.veto('transcript.message.writing', 'no', ({ payload }) =>
          payload.message['injectedBy'] === undefined ? undefined : cancel('policy'),
        ),
    });
    await lab.api.inject('main', 'no');
    await settled(() => lab.ends.length === 1);
    expect(lab.ends[0]).toMatchObject({ status: 'cancelled' });
  });

  it('needs its grant, and a host (extensions-that-act §1.2, §1.3)', async () => {
    await using lab = await actingLab({ grants: { acting: ['send:scripted'] } });
    expect(await codeOf(lab.api.inject('main', 'x'))).toBe('not-granted');
    let alone: ExtensionApi | undefined;
    await using _test = await loadForTest(
      defineExtension({ id: 'alone', setup: (api) => void (alone = api) }),
    );
    expect(await codeOf(alone?.inject('main', 'x'))).toBe('no-host');
  });

  it('rejects if the journal cannot keep the text, and its key is free (extensions-that-act §5.2)', async () => {
    const store = memoryStore();
    const failing = (write: string, nth: number) =>
      write === 'accept' && nth === 1 ? new Error('the disk is full') : undefined;
    await using lab = await actingLab({ journal: memoryJournal(), store, failing });
    expect(await codeOf(lab.api.inject('main', 'x', { key: 'k' }))).toBe('not-kept');
    expect(await codeOf(lab.api.inject('main', 'x', { key: 'k' }))).toBe('done');
    await settled(() => lab.ends.some(({ status }) => status === 'job'));
    expect(await injectedIn(store, 'main')).toEqual(['x']);
  });

  it('refuses a text that the journal would keep without its words (extensions-that-act §5.2)', async () => {
    const store = memoryStore();
    await using lab = await actingLab({
      journal: memoryJournal(),
      store,
      journalSettings: { maxUpdateLength: 1_000 },
    });
    expect(await codeOf(lab.api.inject('main', 'x'.repeat(1_000), { key: 'k' }))).toBe(
      'bad-injection',
    );
    expect(await codeOf(lab.api.inject('main', 'short', { key: 'k' }))).toBe('done');
    await settled(() => lab.ends.length === 1);
    expect(await injectedIn(store, 'main')).toEqual(['short']);
  });

  it('is no account that a message can be sent by (extensions-that-act §5.1)', async () => {
    await using lab = await actingLab();
    await lab.api.inject('main', 'x');
    const { ended } = await lab.api.send({ channel: 'scripted', to: 'scripted:ada', content: 'x' });
    await ended;
    expect(lab.of('egress.preparing')[0]?.payload.accounts).toEqual([
      { channel: 'scripted', accountId: 'default' },
    ]);
    const own = { channel: 'sluice', accountId: 'inject', to: 'main', content: 'x' };
    expect((await (await lab.api.send(own)).ended).status).toBe('failed');
  });
});

const journals: readonly [string, () => Promise<Journal>][] = [
  ['without a journal', async () => memoryJournal({ acknowledge: 'ended' })],
  ['with a journal in memory', async () => memoryJournal()],
  ['with a journal in a file', () => openJournal(':memory:')],
];

it.each(journals)('a key is written once, %s (extensions-that-act §5.2)', async (_, journalOf) => {
  const store = memoryStore();
  await using lab = await actingLab({ journal: await journalOf(), store });
  const inject = (text: string, key: string) => lab.api.inject('main', text, { key });
  await Promise.all([inject('one', 'a'), inject('one', 'a'), inject('two', 'b')]);
  await settled(() => lab.ends.length === 2);
  await inject('one', 'a');
  await settled(() => lab.ends.length > 2);
  expect(await injectedIn(store, 'main')).toEqual(['one', 'two']);
});

it('hosts that are killed write each key once, with a journal in memory as with one in a file (extensions-that-act §5.2)', async () => {
  const round = fc.record({
    keys: fc.array(fc.integer({ min: 0, max: 3 }), { minLength: 1, maxLength: 4 }),
    /** Turns of the event loop that the host lives on. */
    turns: fc.integer({ min: 0, max: 10 }),
  });
  const maxAttempts = 10; // more than there are deaths: none becomes a dead letter
  await fc.assert(
    fc.asyncProperty(fc.array(round, { minLength: 1, maxLength: 4 }), async (rounds) => {
      for (const journalOf of [async () => memoryJournal(), () => openJournal(':memory:')]) {
        const journal = await journalOf();
        const store = memoryStore();
        const kept = new Set<string>();
        for (const { keys, turns } of rounds) {
          const lab = await actingLab({ journal, store, journalSettings: { maxAttempts } });
          for (const key of keys)
            void lab.api.inject('main', `text ${key}`, { key: `${key}` }).then(
              () => kept.add(`text ${key}`),
              () => undefined,
            );
          for (let turn = 0; turn < turns; turn++) await new Promise(setImmediate);
          await lab.kill();
        }
        const asked = [...new Set(rounds.flatMap(({ keys }) => keys))];
        await using last = await actingLab({ journal, store, journalSettings: { maxAttempts } });
        await last.clock.advance(15_000); // a last attempt waits
        expect(await injectedIn(store, 'main')).toEqual(expect.arrayContaining([...kept]));
        for (const key of asked) await last.api.inject('main', `text ${key}`, { key: `${key}` });
        await last.clock.advance(15_000);
        await settled(() => last.host.stats().conversations === 0);
        const written = await injectedIn(store, 'main');
        expect([...written].sort()).toEqual(asked.map((key) => `text ${key}`).sort());
      }
    }),
    { numRuns: Number(process.env['ACTS_RUNS'] ?? 20) },
  );
});
