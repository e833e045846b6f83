import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Journal, memoryJournal, openJournal } from '../../../src/journal/index.js';
import { ask, cancel } from '../../../src/kernel/internal.js';
import type { ExtensionApi, ExtensionMessage, KeptSend } from '../../../src/sdk/extension/index.js';
import { defineExtension } from '../../../src/sdk/extension/index.js';
import { loadForTest } from '../../../src/testing/index.js';
import { actingLab } from '../../support/acting-lab.js';
import { type ScriptedChannel, scriptedChannel } from '../../support/scripted-channel.js';

const tea: ExtensionMessage = { channel: 'scripted', to: 'scripted:ada', content: 'Tea!' };

const codeOf = (sending: Promise<unknown>): Promise<unknown> =>
  sending.then(
    () => 'kept',
    (error: { code?: unknown }) => error.code,
  );

describe('api.send', () => {
  it('sends a message of its own through egress, by the first account of the channel (extensions-that-act §4.1)', async () => {
    await using lab = await actingLab();
    const { sendId, ended } = await lab.api.send(tea);
    expect(await ended).toMatchObject({ status: 'sent', content: 'Tea!', accountId: 'default' });
    const [preparing] = lab.of('egress.preparing');
    expect(preparing?.event).toMatchObject({
      eventId: sendId,
      metadata: { extensionId: 'acting', sendDepth: 1 },
      payload: { kind: 'unprompted', explicit: true, content: 'Tea!' },
    });
    expect(lab.of('egress.sent')).toHaveLength(1);
  });

  it('tells of a cancel in its end, and does not reject (extensions-that-act §4.2)', async () => {
    await using lab = await actingLab({
      setup: (api) => api.veto('egress.preparing', 'no', () => cancel('quiet-hours')),
    });
    const { ended } = await lab.api.send(tea);
    expect(await ended).toMatchObject({ status: 'cancelled', cancel: { code: 'quiet-hours' } });
    expect(lab.channel.sent).toEqual([]);
  });

  it('is refused by a veto that asks: such a message has no update whose question could wait (judgement §4.28)', async () => {
    await using lab = await actingLab({
      setup: (api) => api.veto('egress.preparing', 'ask', () => ask({ title: 'May it be sent?' })),
    });
    const { ended } = await lab.api.send(tea);
    expect(await ended).toMatchObject({
      status: 'cancelled',
      cancel: { code: 'approval-required' },
    });
    expect(lab.channel.sent).toEqual([]);
    expect(lab.of('egress.preparing')).toHaveLength(1); // nobody is asked: a question would be a message, too
  });

  it('refuses a message that does not fit its schema, and names the path (extensions-that-act §4.1)', async () => {
    await using lab = await actingLab();
    const wrong = { ...tea, interactive: { buttons: [] } };
    await expect(lab.api.send(wrong)).rejects.toThrow(/\/interactive\/buttons/);
    expect(lab.of('egress.preparing')).toEqual([]);
  });

  it('needs the grant for its channel, and the error says what to write (extensions-that-act §1.3)', async () => {
    await using lab = await actingLab({ grants: { acting: ['send:pigeon'] } });
    await expect(lab.api.send(tea)).rejects.toThrow(/send:scripted/);
    expect(lab.of('egress.preparing')).toEqual([]);
  });

  it('is refused without a host, and after the host has stopped (extensions-that-act §1.2)', async () => {
    let alone: ExtensionApi | undefined;
    await using _test = await loadForTest(
      defineExtension({ id: 'alone', setup: (api) => void (alone = api) }),
    );
    expect(await codeOf(Promise.resolve(alone?.send(tea)))).toBe('no-host');
    const lab = await actingLab();
    await lab[Symbol.asyncDispose]();
    expect(await codeOf(lab.api.send(tea))).toBe('no-host');
  });

  it('resolves in a handler of a send to the same address, which has not ended (extensions-that-act §4.3)', async () => {
    const kept: KeptSend[] = [];
    await using lab = await actingLab({
      setup: (api) =>
        api.observe('egress.sending', 'again', async (call) => {
          if (kept.length === 0)
            kept.push(await api.send({ ...tea, content: 'More tea!', after: call }));
        }),
    });
    const { ended } = await lab.api.send(tea);
    await ended;
    await kept[0]?.ended;
    expect(lab.texts()).toEqual(['Tea!', 'More tea!']);
    const [first, second] = lab.of('egress.preparing');
    expect(second?.event.correlationId).toBe(first?.event.correlationId);
    expect(second?.event.metadata).toMatchObject({ sendDepth: 2 });
  });

  it('rejects what the journal cannot keep, and sends nothing (extensions-that-act §4.2)', async () => {
    const failing = (write: string) =>
      write === 'prepare' ? new Error('the disk is full') : undefined;
    await using lab = await actingLab({ journal: memoryJournal(), failing });
    expect(await codeOf(lab.api.send({ ...tea, key: 'tea/1' }))).toBe('not-kept');
    await lab.clock.advance(1_000);
    expect(lab.texts()).toEqual([]);
    expect(lab.of('egress.failed')).toHaveLength(1);
  });

  it('keeps the order of messages to one address (extensions-that-act §4.3)', async () => {
    await using lab = await actingLab();
    const texts = ['one', 'two', 'three', 'four'];
    const kept = await Promise.all(texts.map((content) => lab.api.send({ ...tea, content })));
    await Promise.all(kept.map(({ ended }) => ended));
    expect(lab.texts()).toEqual(texts);
  });
});

describe('an extension that sends upon its own sends', () => {
  it('is stopped after eight that name each other by `after`, and is told (extensions-that-act §4.6)', async () => {
    const refused: unknown[] = [];
    await using lab = await actingLab({
      setup: (api) =>
        api.observe('egress.sent', 'loop', (call) =>
          api.send({ ...tea, after: call }).then(
            () => undefined,
            (error: { code?: unknown }) => void refused.push(error.code),
          ),
        ),
    });
    await lab.api.send(tea);
    await lab.clock.advance(1_000);
    expect(lab.texts()).toHaveLength(8);
    expect(refused).toEqual(['too-many-sends']);
  });

  it('is stopped after thirty to one address in a minute, and may go on in the next (extensions-that-act §4.6)', async () => {
    const refused: unknown[] = [];
    await using lab = await actingLab({
      setup: (api) =>
        api.observe('egress.sent', 'loop', () =>
          api.send(tea).then(
            () => undefined,
            (error: { code?: unknown }) => void refused.push(error.code),
          ),
        ),
    });
    await lab.api.send(tea);
    await lab.clock.advance(1_000);
    expect(lab.texts()).toHaveLength(30);
    expect(refused).toEqual(['too-many-sends']);
    expect(await codeOf(lab.api.send({ ...tea, to: 'scripted:eve' }))).toBe('kept');
    await lab.clock.advance(60_000);
    expect(await codeOf(lab.api.send(tea))).toBe('kept');
  });
});

const journals: readonly [string, () => Promise<Journal>][] = [
  ['without a journal', async () => memoryJournal({ acknowledge: 'ended' })],
  ['with a journal in memory', async () => memoryJournal()],
  ['with a journal in a file', () => openJournal(':memory:')],
];

describe.each(journals)('a key, %s', (_, journalOf) => {
  it('is sent once, however often and how close it is asked for (extensions-that-act §4.4)', async () => {
    await using lab = await actingLab({ journal: await journalOf() });
    const keyed = { ...tea, key: 'tea/1' };
    const [one, two] = await Promise.all([lab.api.send(keyed), lab.api.send(keyed)]);
    await one.ended;
    const three = await lab.api.send(keyed);
    expect(new Set([one.sendId, two.sendId, three.sendId]).size).toBe(1);
    expect((await three.ended).status).toBe('sent');
    expect(lab.texts()).toEqual(['Tea!']);
    const other = await lab.api.send({ ...tea, key: 'tea/2' });
    await other.ended;
    expect(lab.texts()).toEqual(['Tea!', 'Tea!']);
  });

  it.each<[string, Partial<ExtensionMessage>]>([
    ['text', { content: 'Coffee!' }],
    ['address', { to: 'scripted:eve' }],
    ['account', { accountId: 'other' }],
    ['buttons', { interactive: { buttons: [{ id: 'yes', label: 'Yes' }] } }],
  ])(
    'with another %s is a conflict, and nothing is sent (extensions-that-act §4.4)',
    async (_what, other) => {
      const channel = scriptedChannel({ accounts: ['default', 'other'] });
      await using lab = await actingLab({ journal: await journalOf(), channel });
      const keyed = { ...tea, accountId: 'default', key: 'tea/1' };
      const { ended } = await lab.api.send(keyed);
      expect(await codeOf(lab.api.send({ ...keyed, ...other }))).toBe('key-conflict');
      await ended;
      expect(await codeOf(lab.api.send({ ...keyed, ...other }))).toBe('key-conflict');
      expect(lab.texts()).toEqual(['Tea!']);
    },
  );

  it('that was refused is free (extensions-that-act §4.4)', async () => {
    await using lab = await actingLab({ journal: await journalOf() });
    for (let sent = 0; sent < 30; sent++) await lab.api.send(tea);
    expect(await codeOf(lab.api.send({ ...tea, key: 'tea/1' }))).toBe('too-many-sends');
    await lab.clock.advance(60_000);
    const { ended } = await lab.api.send({ ...tea, content: 'Late tea!', key: 'tea/1' });
    expect((await ended).status).toBe('sent');
    expect(lab.texts().at(-1)).toBe('Late tea!');
  });
});

describe('a key after a restart', () => {
  it.each<[string, Partial<ExtensionMessage>]>([
    [
      'a secret in its text, which the journal leaves out',
      { content: 'the word is sesame-street' },
    ],
    ['a field without a value', { metadata: { note: undefined, at: [1] } }],
    [
      'a secret in its metadata, which the journal leaves out',
      { metadata: { note: { text: 'sesame-street' }, token: 'sesame-street' } },
    ],
  ])('names the same message with %s (extensions-that-act §4.4)', async (_, fields) => {
    const journal = await openJournal(':memory:', { secrets: ['sesame-street'] });
    const keyed = { ...tea, ...fields, key: 'tea/1' };
    const before = await actingLab({ journal, journalSettings: { closes: false } });
    const { sendId, ended } = await before.api.send(keyed);
    await ended;
    await before[Symbol.asyncDispose]();
    await using lab = await actingLab({ journal });
    expect((await lab.api.send(keyed)).sendId).toBe(sendId);
    expect(await codeOf(lab.api.send({ ...keyed, content: 'Coffee!' }))).toBe('key-conflict');
    const other = { ...keyed, metadata: { note: { text: 'another' } } };
    expect(await codeOf(lab.api.send(other))).toBe('key-conflict');
    expect(lab.texts()).toEqual([]);
  });
});

describe('a message that is claimed again after a crash', () => {
  it('is answered, though an extension has sent the words of the answer to somebody else (extensions-that-act §4.7)', async () => {
    const journal = memoryJournal();
    const mirror = (api: ExtensionApi, then: () => Promise<void>) =>
      api.observe('agent.completed', 'mirror', async (call) => {
        const copy = { ...tea, to: 'scripted:log', content: 'hello' };
        await (await api.send({ ...copy, key: 'log/1', after: call })).ended;
        await then();
      });
    let goOn = (): void => undefined;
    const mirrored = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    const killed = await actingLab({
      journal,
      setup: (api) =>
        mirror(api, async () => {
          goOn();
          await new Promise(() => undefined);
        }),
    });
    void killed.say('hello');
    await mirrored;
    await killed.kill();
    await using lab = await actingLab({
      journal,
      setup: (api) => mirror(api, async () => undefined),
    });
    await lab.clock.advance(5_000);
    const to = (channel: ScriptedChannel) => channel.sent.map((one) => one.to);
    expect([to(killed.channel), to(lab.channel)]).toEqual([['scripted:log'], ['scripted:ada']]);
  });
});

describe.each(journals.slice(1))('hosts that are killed, %s', (_, journalOf) => {
  it('send what was persisted, once per key, whatever the moments of their deaths (extensions-that-act §4.5)', async () => {
    const round = fc.record({
      keys: fc.array(fc.integer({ min: 0, max: 3 }), { minLength: 1, maxLength: 4 }),
      /** Turns of the event loop that the host lives on. */
      turns: fc.integer({ min: 0, max: 12 }),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(round, { minLength: 1, maxLength: 4 }), async (rounds) => {
        const journal = await journalOf();
        const out: string[] = [];
        const channel = () =>
          scriptedChannel({
            deduplicatesSends: true,
            resendPolicy: { ambiguous: 'resend' },
            send: async (permit) => {
              const { content } = permit.take();
              out.push(`${permit.idempotencyKey} ${content}`);
              return { status: 'sent', receipt: {} };
            },
          });
        const kept = new Set<number>();
        for (const { keys, turns } of rounds) {
          const lab = await actingLab({ journal, channel: channel() });
          for (const key of keys)
            void lab.api.send({ ...tea, content: `tea ${key}`, key: `tea/${key}` }).then(
              () => kept.add(key),
              () => undefined,
            );
          for (let turn = 0; turn < turns; turn++) await new Promise(setImmediate);
          await lab.kill();
        }
        const asked = new Set(rounds.flatMap(({ keys }) => keys));
        await using last = await actingLab({ journal, channel: channel() });
        const isOut = (key: number) => out.some((line) => line.endsWith(` tea ${key}`));
        for (let looks = 0; looks < 100 && ![...kept].every(isOut); looks++)
          await last.clock.advance(1_000); // the file takes its own time
        expect([...kept].filter((key) => !isOut(key))).toEqual([]);
        for (const key of asked) {
          const { ended } = await last.api.send({
            ...tea,
            content: `tea ${key}`,
            key: `tea/${key}`,
          });
          const end = ended.then(({ status }) => status);
          await last.clock.advance(5_000);
          expect(await end).toBe('sent');
        }
        // its provider drops a second send of the same id: each key is one id
        expect(new Set(out).size).toBe(asked.size);
      }),
      { numRuns: Number(process.env['ACTS_RUNS'] ?? 20) },
    );
  });
});
