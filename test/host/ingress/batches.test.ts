import { describe, expect, it } from 'vitest';
import { createHost } from '../../../src/host/index.js';
import { type Journal, memoryJournal } from '../../../src/journal/index.js';
import type { DecodedIngress } from '../../../src/sdk/channel/index.js';
import { defineExtension, type Question } from '../../../src/sdk/extension/index.js';
import { virtualClock } from '../../../src/testing/index.js';
import {
  type BatchLabOptions,
  batchLab,
  journalsOfBatches,
  notingAgent,
  turns,
  withinMs,
} from '../../support/batch-lab.js';
import { mortalJournal } from '../../support/mortal-journal.js';
import { type Said, scriptedChannel } from '../../support/scripted-channel.js';

const at = { extensionId: 'acme' };

it('reads nothing, and blocks nothing, in an account without the setting (durability §10.1)', async () => {
  const clock = virtualClock();
  const journal = memoryJournal({ clock });
  let reads = 0;
  const counted: Journal = {
    ...journal,
    updates: (filter) => {
      reads++;
      return journal.updates(filter);
    },
  };
  for (const ingress of [
    {},
    { joinWithinMs: { other: 1_000, 'scripted/default': 0, scripted: 5 } },
  ]) {
    await using lab = await batchLab({ clock, journal: mortalJournal(counted), ingress });
    await turns();
    const before = reads;
    await lab.tell(`one ${lab.prompts.length}`, `u-${reads}`);
    expect(lab.prompts).toHaveLength(1);
    expect(reads).toBe(before);
  }
});

it.each([-1, Number.NaN, 60_001])('refuses a wait of %s milliseconds (durability §10.1)', (ms) => {
  const options = { agents: [{ id: 'main', provider: notingAgent([]) }] };
  expect(() => createHost({ ...options, ingress: { joinWithinMs: { a: ms } } })).toThrow(
    expect.objectContaining({ code: 'bad-option', message: expect.stringContaining('"a"') }),
  );
});

it('says if the setting names no channel that runs (durability §10.1)', async () => {
  await using lab = await batchLab({ ingress: { joinWithinMs: { telegran: 5, scripted: 5 } } });
  const warned = lab.log.entries.filter(({ level }) => level === 'warn');
  expect(warned).toMatchObject([
    { message: expect.stringContaining('joinWithinMs'), fields: { at: 'telegran' } },
  ]);
});

it('takes the answer to an open question as such, at once, and joins it to nothing (durability §10.2)', async () => {
  const ends: unknown[] = [];
  let deploy: Question<unknown> | undefined;
  const extension = defineExtension({
    id: 'acme',
    setup: (api) => {
      deploy = api.question('deploy', (end) => void ends.push(end));
    },
  });
  await using lab = await batchLab({ extensions: [{ extension }] });
  await lab.tell('one');
  const place = { channel: 'scripted', to: 'scripted:ada' };
  await deploy?.ask(place, { content: 'Deploy?', options: ['Yes', 'No'] });
  await lab.tell('yes');
  await lab.pass(0);
  expect(lab.prompts).toEqual(['one']);
  expect(ends).toMatchObject([{ status: 'answered', answer: 'Yes' }]);
});

describe.each(journalsOfBatches)('a host that joins messages, %s', (_, journalOf) => {
  const labOf = async (options: BatchLabOptions = {}) => {
    const clock = virtualClock();
    const journal = await journalOf(clock);
    return batchLab({ clock, ...(journal && { journal }), ...options });
  };

  it('answers quick messages of one sender by one turn, and ends each (durability §10.1, durability §10.7)', async () => {
    await using lab = await labOf();
    await lab.tell('one');
    await lab.pass(900);
    await lab.tell('two');
    await lab.pass(900);
    await lab.tell('three');
    await lab.pass(withinMs - 1);
    expect(lab.prompts).toEqual([]);
    await lab.pass(1);
    expect(lab.prompts).toEqual(['one\n\ntwo\n\nthree']);
    expect(lab.texts()).toEqual(['answer to one\n\ntwo\n\nthree']);
    expect(lab.endings()).toEqual(['u-one: answered', 'u-two: joined', 'u-three: joined']);
    const [leader, two] = lab.ends;
    expect(two?.reason).toBe(`it joined ${leader?.correlationId}`);
    expect(lab.channel.acknowledged.map(({ updateId }) => updateId)).toEqual([
      'u-one',
      'u-two',
      'u-three',
    ]);
    expect(lab.channel.sent[0]).toMatchObject({ replyToId: 'm-one' });
    expect(lab.host.stats()).toMatchObject({ joined: 2, waiting: 0 });
  });

  it('begins at the latest after ten times the time, and begins the next wait then (durability §10.3)', async () => {
    await using lab = await labOf();
    for (let nth = 0; nth <= 12; nth++) {
      await lab.tell(String(nth));
      await lab.pass(900);
    }
    expect(lab.prompts).toEqual(['0\n\n1\n\n2\n\n3\n\n4\n\n5\n\n6\n\n7\n\n8\n\n9\n\n10\n\n11']);
    await lab.pass(withinMs);
    expect(lab.prompts.slice(1)).toEqual(['12']);
  });

  it('joins at most 50 messages (durability §10.3)', async () => {
    await using lab = await labOf();
    for (let nth = 1; nth <= 51; nth++) await lab.tell(String(nth));
    await lab.pass(0);
    expect(lab.prompts.map((one) => one.split('\n\n').length)).toEqual([50]);
    await lab.pass(withinMs);
    expect(lab.prompts[1]).toBe('51');
  });

  const alone: readonly [string, Said][] = [
    ['another sender', { text: 'x', from: 'bob' }],
    ['a sender that nobody has proven', { text: 'x', isUnproven: true }],
    ['a bot', { text: 'x', isBot: true }],
    ['a command', { text: '/help' }],
  ];
  it.each(alone)(
    'begins at once, without it, when there comes %s (durability §10.2)',
    async (_, said) => {
      await using lab = await labOf();
      await lab.tell('one');
      await lab.tell('two');
      await lab.tell(said);
      await lab.pass(0);
      expect(lab.prompts[0]).toBe('one\n\ntwo');
      await lab.tell('three');
      await lab.pass(withinMs);
      await lab.pass(withinMs);
      expect(lab.prompts.at(-1)).toBe('three');
      expect(lab.endings().filter((end) => end.endsWith('joined'))).toEqual(['u-two: joined']);
    },
  );

  it('joins neither an edit nor a message of another thread or account (durability §10.2)', async () => {
    const edits = (raw: unknown): DecodedIngress | undefined => {
      const decoded = scriptedChannel().decodeIngress(raw, 'default');
      const { text } = raw as Said;
      if (decoded.kind !== 'message' || text !== 'edit') return undefined;
      return { ...decoded, message: { ...decoded.message, isEdited: true } };
    };
    const channel = scriptedChannel({ accounts: ['default', 'other'], decode: edits });
    await using lab = await labOf({ channel });
    await lab.tell('one');
    await lab.tell({ text: 'there', thread: 't' });
    void lab.channel.receive({ text: 'elsewhere' }, 'u-elsewhere', 'other');
    await turns();
    await lab.tell('edit');
    await lab.pass(withinMs);
    expect(lab.prompts.toSorted()).toEqual(['edit', 'elsewhere', 'one', 'there']);
  });

  it('begins when a press has been handled (durability §10.2)', async () => {
    await using lab = await labOf();
    await lab.tell('one');
    await lab.tell({ text: '', press: 'b' }, 'u-press');
    await lab.pass(0);
    expect(lab.prompts).toEqual(['one']);
  });

  it('ends a leader that /stop stops, with those that joined, and runs no turn (durability §10.4)', async () => {
    await using lab = await labOf();
    await lab.tell('one');
    await lab.tell('two');
    await lab.tell('/stop');
    await lab.pass(5 * withinMs);
    expect(lab.prompts).toEqual([]);
    expect(lab.texts()).toEqual(['Stopped.']);
    expect([...lab.endings()].toSorted()).toEqual([
      'u-/stop: command',
      'u-one: aborted',
      'u-two: joined',
    ]);
    expect(lab.of('ingress.normalized')).toHaveLength(3);
  });

  it('joins nothing to a turn that has begun (durability §10.3)', async () => {
    let release = (): void => undefined;
    await using lab = await labOf({
      answer: () => new Promise((resolve) => (release = () => resolve('done'))),
    });
    await lab.tell('one');
    await lab.pass(withinMs);
    await lab.tell('two');
    await lab.pass(2 * withinMs);
    await lab.tell('three'); // too late to join "two", though both wait for the turn
    await lab.tell('four');
    release();
    await lab.pass(0);
    await lab.pass(withinMs);
    expect(lab.prompts).toEqual(['one', 'two']);
    release();
    await lab.pass(withinMs);
    expect(lab.prompts.slice(2)).toEqual(['three\n\nfour']);
    release();
    await lab.pass(0);
  });

  it('holds no place of the host, no reload and no attempt while it waits (durability §10.4)', async () => {
    const extension = defineExtension({ id: 'acme', setup: () => undefined });
    await using lab = await labOf({ lanes: { maxRunning: 1 }, extensions: [{ extension }] });
    await lab.tell('one');
    expect(lab.host.stats()).toMatchObject({ running: 0, waiting: 1 });
    expect(lab.host.health()).toMatchObject({ messages: 1, turns: 0 });
    await lab.tell({ text: '/help', conversation: 'scripted:bob', from: 'bob' });
    expect(lab.endings()).toEqual(['u-/help: command']);
    const reloaded = await lab.host.reload('acme');
    expect(reloaded).toMatchObject([{ result: 'reloaded' }]);
    await lab.tell('two');
    await lab.pass(withinMs);
    expect(lab.prompts).toEqual(['one\n\ntwo']);
  });

  it('knows an update that comes again, and does not wait longer for it (durability §10.3)', async () => {
    await using lab = await labOf();
    await lab.tell('one');
    await lab.tell('two');
    await lab.pass(900);
    await lab.tell('two');
    await lab.tell('one');
    await lab.pass(100);
    expect(lab.prompts).toEqual(['one\n\ntwo']);
    expect(lab.host.stats().duplicates).toBe(2);
  });

  it('dispatches the stages of ingress for each message, under the leader, and makes one of them (durability §10.6)', async () => {
    const picture = (url: string) => ({ kind: 'image' as const, url });
    const decode = (raw: unknown): DecodedIngress | undefined => {
      const decoded = scriptedChannel().decodeIngress(raw, 'default');
      if (decoded.kind !== 'message') return undefined;
      const { message } = decoded;
      const { content } = message;
      return {
        ...decoded,
        message: {
          ...message,
          content: content === 'picture' ? '' : content,
          attachments: [picture(`${content}.png`)],
          metadata: { [content]: true, of: content },
          ...(content === 'voice' && { transcript: 'spoken words' }),
          ...(content === 'two' && { replyTo: { messageId: 'm-0' } }),
        },
      };
    };
    await using lab = await labOf({
      channel: scriptedChannel({ decode }),
      contribute: (kernel) => {
        kernel.contribute({
          ...at,
          id: 'signed',
          family: 'ingress.normalized',
          class: 'mutator',
          handler: ({ payload }) =>
            payload.content === 'two' ? { content: 'two, read twice' } : undefined,
        });
        kernel.contribute({
          ...at,
          id: 'noted',
          priority: -1,
          family: 'ingress.normalized',
          class: 'augmenter',
          handler: ({ payload }) => ({ notes: [`of ${payload.content}`] }),
        });
      },
    });
    for (const text of ['one', 'picture', 'voice', 'two']) await lab.tell(text);
    await lab.pass(withinMs);
    const received = lab.of('ingress.received').map(({ event }) => event);
    const [leader] = received;
    expect(received.map(({ payload }) => payload.updateId)).toEqual([
      'u-one',
      'u-picture',
      'u-voice',
      'u-two',
    ]);
    const all = lab.outcomes.filter(({ event }) => /^(ingress|routing|agent)/.test(event.family));
    expect(new Set(all.map(({ event }) => event.correlationId))).toEqual(
      new Set([leader?.eventId]),
    );
    const [routed] = lab.of('routing.resolving');
    expect(routed?.event.payload.message).toMatchObject({
      content: 'one\n\nvoice\n\ntwo, read twice',
      transcript: 'spoken words',
      messageId: 'm-one',
      replyTo: { messageId: 'm-0' },
      attachments: ['one.png', 'picture.png', 'voice.png', 'two.png'].map(picture),
      metadata: { one: true, two: true, of: 'one' },
    });
    expect(routed?.event.messageRef).toEqual({ channel: 'scripted', id: 'm-one' });
    expect(routed?.annotations.notes).toEqual(['of one', 'of ', 'of voice', 'of two, read twice']);
    expect(lab.prompts).toEqual(['one\n\nvoice\n\nspoken words\n\ntwo, read twice']);
  });

  it('does not take a message that joined as a command, however a handler words it (durability §10.6)', async () => {
    await using lab = await labOf({
      contribute: (kernel) =>
        kernel.contribute({
          ...at,
          id: 'worded',
          family: 'ingress.normalized',
          class: 'mutator',
          handler: ({ payload }) => (payload.content === 'one' ? { content: '/new' } : undefined),
        }),
    });
    await lab.tell('one');
    await lab.tell('two');
    await lab.pass(withinMs);
    expect(lab.prompts).toEqual(['/new\n\ntwo']);
  });

  it('tells the sender of a message that joined and that a guard could not judge, and answers the others (durability §10.6)', async () => {
    await using lab = await labOf({
      contribute: (kernel) =>
        kernel.contribute({
          ...at,
          id: 'guard',
          family: 'ingress.normalized',
          class: 'mutator',
          failClosed: true,
          handler: ({ payload }) => {
            if (payload.content === 'two') throw new Error('the list is gone');
          },
        }),
    });
    for (const text of ['one', 'two', 'three']) await lab.tell(text);
    await lab.pass(withinMs);
    expect(lab.prompts).toEqual(['one\n\nthree']);
    expect(lab.texts()).toContain('This message could not be answered (stage-failed).');
    expect(lab.ends.map(({ updateId, status }) => [updateId, status])).toContainEqual([
      'u-two',
      'failed',
    ]);
  });
});
