import { describe, expect, it } from 'vitest';
import ask from '../../../docs/examples/ask.js';
import { type Journal, memoryJournal } from '../../../src/journal/index.js';
import { cancel } from '../../../src/kernel/internal.js';
import type { DecodedIngress } from '../../../src/sdk/channel/index.js';
import {
  defineExtension,
  type ExtensionApi,
  type Question,
  type QuestionEnd,
  type QuestionMessage,
} from '../../../src/sdk/extension/index.js';
import { fakeChannel, loadForTest, startTestHost } from '../../../src/testing/index.js';
import { type ActingLabOptions, actingLab } from '../../support/acting-lab.js';
import { hostLab } from '../../support/host-lab.js';
import { scriptedChannel } from '../../support/scripted-channel.js';

type End = QuestionEnd<unknown>;

const ada = { channel: 'scripted', to: 'scripted:ada' } as const;
const deploy: QuestionMessage = {
  content: 'Deploy?',
  options: ['Yes', { id: 'no', label: 'Not now' }],
};

const codeOf = (doing: Promise<unknown> | undefined): Promise<unknown> =>
  Promise.resolve(doing).then(
    () => 'done',
    (error: { code?: unknown }) => error.code,
  );

async function settled(isSo: () => boolean): Promise<void> {
  for (let turns = 0; turns < 500 && !isSo(); turns++) await new Promise(setImmediate);
}

/** A channel in which `!NAME` is the press of a button. */
function withButtons() {
  return scriptedChannel({
    interactive: ['buttons'],
    decode: (raw): DecodedIngress | undefined => {
      const { text, conversation = 'scripted:ada' } = raw as {
        text: string;
        conversation?: string;
      };
      if (!text.startsWith('!')) return undefined;
      const place = { channel: 'scripted', accountId: 'default', conversationId: conversation };
      const pressed = { kind: 'button' as const, name: text.slice(1), values: [] };
      return {
        kind: 'interaction',
        interaction: {
          interactionId: 'i',
          ...pressed,
          ...place,
          sender: { id: 'ada', name: 'Ada' },
        },
      };
    },
  });
}

/** A host whose extension asks two questions: `deploy` and `name`. */
async function askingLab(options: ActingLabOptions = {}) {
  const handled: End[] = [];
  const given: { deploy?: Question<unknown>; name?: Question<unknown> } = {};
  const lab = await actingLab({
    channel: withButtons(),
    ...options,
    setup: (api) => {
      given.deploy = api.question<unknown>('deploy', (end) => void handled.push(end));
      given.name = api.question<unknown>('name', (end) => void handled.push(end));
      options.setup?.(api);
    },
  });
  if (given.deploy === undefined || given.name === undefined) throw new Error('there was no setup');
  const buttons = () =>
    lab.channel.sent.flatMap(({ interactive }) => interactive?.buttons?.map(({ id }) => id) ?? []);
  return { ...lab, deploy: given.deploy, name: given.name, handled, buttons };
}

describe('a question', () => {
  it('is sent with buttons, and the press of one is its answer (extensions-that-act §7.4, extensions-that-act §7.5, extensions-that-act §7.6)', async () => {
    await using lab = await askingLab();
    const { id } = await lab.deploy.ask(ada, deploy, { data: { build: 7 } });
    await settled(() => lab.buttons().length === 2);
    const [yes = '', no = ''] = lab.buttons();
    for (const name of [yes, no]) expect(Buffer.byteLength(name)).toBeLessThanOrEqual(64);
    const end = await lab.say(`!${no}`);
    expect(end).toMatchObject({ status: 'answer', sends: [] });
    await settled(() => lab.handled.length > 0);
    expect(lab.handled).toMatchObject([
      {
        id,
        status: 'answered',
        answer: 'no',
        from: { id: 'ada', name: 'Ada' },
        data: { build: 7 },
      },
    ]);
    expect(lab.handled[0]).toMatchObject({ place: { ...ada, accountId: 'default' }, attempt: 1 });
    expect(lab.handled[0]).not.toHaveProperty('by');
    expect(lab.of('interaction.resolved')[0]?.payload).toMatchObject({
      resolution: 'answer',
      questionId: id,
    });
    expect(lab.of('interaction.completed')[0]?.payload.success).toBe(true);
    await settled(() => lab.ends.length === 2);
    const job = lab.ends.find(({ status }) => status === 'job');
    expect(job).toMatchObject({ accountId: 'question:acting/deploy' });
  });

  it.each([
    ['the label', ' yes ', 'Yes'],
    ['the id', 'NO', 'no'],
    ['the number', '2', 'no'],
  ])(
    'is answered by a text that is %s of an option, which no agent sees (extensions-that-act §7.4)',
    async (_, text, answer) => {
      await using lab = await askingLab();
      await lab.deploy.ask(ada, deploy);
      expect((await lab.say('maybe')).status).toBe('answered'); // by the echo
      expect((await lab.say(text)).status).toBe('answer');
      await settled(() => lab.handled.length > 0);
      expect(lab.handled).toMatchObject([{ status: 'answered', answer }]);
      expect(lab.of('routing.resolving')).toHaveLength(1);
    },
  );

  it('without options takes any text, but no command and no text of a bot (extensions-that-act §7.4)', async () => {
    await using lab = await askingLab();
    await lab.name.ask(ada, 'Your name?');
    expect((await lab.say('/help')).status).toBe('command');
    expect((await lab.say({ text: 'beep', isBot: true })).status).toBe('answered');
    expect((await lab.say(' Ada Lovelace ')).status).toBe('answer');
    await settled(() => lab.handled.length > 0);
    expect(lab.handled).toMatchObject([{ answer: 'Ada Lovelace' }]);
    expect((await lab.say('hello')).status).toBe('answered');
  });

  it('is answered in its own conversation and thread alone (extensions-that-act §7.4)', async () => {
    await using lab = await askingLab();
    await lab.name.ask({ ...ada, threadId: '5' }, 'Your name?');
    await lab.deploy.ask(ada, deploy);
    await settled(() => lab.buttons().length === 2);
    const [yes = ''] = lab.buttons();
    expect((await lab.say({ text: 'yes', conversation: 'scripted:eve' })).status).toBe('answered');
    const press = await lab.say({ text: `!${yes}`, conversation: 'scripted:eve' });
    expect(press.sends.map(({ content }) => content)).toEqual([
      'This question is not open any more.',
    ]);
    expect((await lab.say('Ada')).status).toBe('answered'); // there is no thread
    expect((await lab.say({ text: 'Ada', thread: '5' })).status).toBe('answer');
    expect((await lab.say('yes')).status).toBe('answer');
    await settled(() => lab.handled.length === 2);
    expect(lab.handled).toMatchObject([{ answer: 'Ada' }, { answer: 'Yes' }]);
  });

  it('tells a press that comes too late so, and changes nothing (extensions-that-act §7.5)', async () => {
    await using lab = await askingLab();
    await lab.deploy.ask(ada, deploy);
    await settled(() => lab.buttons().length === 2);
    const [yes = '', no = ''] = lab.buttons();
    await lab.say(`!${yes}`);
    const late = await lab.say(`!${no}`);
    expect(late.status).toBe('interaction');
    expect(lab.texts().at(-1)).toBe('This question is not open any more.');
    await settled(() => false);
    expect(lab.handled).toMatchObject([{ answer: 'Yes' }]);
  });

  it('is open once in a conversation, and the error names the open one (extensions-that-act §7.3)', async () => {
    await using lab = await askingLab();
    const { id } = await lab.deploy.ask(ada, deploy);
    await expect(lab.deploy.ask(ada, deploy)).rejects.toThrow(id);
    expect(await codeOf(lab.deploy.ask(ada, deploy))).toBe('question-open');
    await lab.deploy.ask({ ...ada, to: 'scripted:eve' }, deploy);
    await lab.name.ask(ada, 'Your name?');
    await lab.say('Ada');
    await lab.say('yes');
    expect(await codeOf(lab.deploy.ask(ada, deploy))).toBe('done');
  });

  it('the newest that takes a text gets it (extensions-that-act §7.4)', async () => {
    await using lab = await askingLab();
    await lab.deploy.ask(ada, deploy);
    await lab.name.ask(ada, 'Your name?');
    await lab.say('yes');
    await settled(() => lab.handled.length === 1);
    expect(lab.handled).toMatchObject([{ answer: 'yes' }]); // of `name`
  });

  it('with a key is asked once, also when it is answered (extensions-that-act §7.3)', async () => {
    await using lab = await askingLab({ journal: memoryJournal() });
    const ask = (content = 'Deploy?') =>
      lab.deploy.ask(ada, { ...deploy, content }, { key: 'build/7' });
    const [one, two] = await Promise.all([ask(), ask()]);
    expect(two).toEqual(one);
    expect(await codeOf(ask('Really?'))).toBe('key-conflict');
    await lab.say('yes');
    await settled(() => lab.handled.length === 1);
    expect(await ask()).toEqual(one);
    await settled(() => false);
    expect(lab.channel.sent).toHaveLength(1);
    expect((await lab.say('yes')).status).toBe('answered');
  });

  it('with the key of one whose message is persisted, and whose end is not, is refused if it has other words (extensions-that-act §7.3)', async () => {
    const journal = memoryJournal();
    let isGone = false; // the end of a question is persisted for a while alone
    const forgetful: Journal = {
      ...journal,
      updates: async (filter) => (isGone ? [] : journal.updates(filter)),
    };
    await using lab = await askingLab({ journal: forgetful });
    const ask = (content = 'Deploy?') =>
      lab.deploy.ask(ada, { ...deploy, content }, { key: 'build/7' });
    await ask();
    await lab.say('yes');
    await settled(() => lab.handled.length === 1);
    isGone = true;
    expect(await codeOf(ask('Really?'))).toBe('key-conflict');
    expect(lab.channel.sent).toHaveLength(1);
  });

  it('expires at its deadline, by the clock of the host (extensions-that-act §7.7)', async () => {
    await using lab = await askingLab();
    const { id } = await lab.deploy.ask(ada, deploy, { timeoutMs: 60_000 });
    await lab.name.ask(ada, 'Your name?');
    await lab.clock.advance(59_000);
    expect(lab.handled).toEqual([]);
    await lab.clock.advance(2_000);
    expect(lab.handled).toMatchObject([{ id, status: 'expired' }]);
    await lab.clock.advance(86_400_000);
    expect(lab.handled.map(({ status }) => status)).toEqual(['expired', 'expired']);
    expect((await lab.say('yes')).status).toBe('answered');
  });

  it('that is cancelled is told as not sent, and is open no more (extensions-that-act §7.2)', async () => {
    await using lab = await askingLab({
      setup: (api) => api.veto('egress.preparing', 'no', () => cancel('quiet-hours')),
    });
    await lab.deploy.ask(ada, deploy);
    await settled(() => lab.handled.length === 1);
    expect(lab.handled).toMatchObject([{ status: 'not-sent' }]);
    expect(await codeOf(lab.deploy.ask(ada, deploy))).toBe('done');
  });

  it('that cannot be persisted or sent is not open (extensions-that-act §7.2)', async () => {
    const failing = (write: string, nth: number) =>
      (write === 'keyValue' && nth === 1) || (write === 'prepare' && nth === 1)
        ? new Error('the disk is full')
        : undefined;
    await using lab = await askingLab({ journal: memoryJournal(), failing });
    expect(await codeOf(lab.deploy.ask(ada, deploy))).not.toBe('done');
    expect(await codeOf(lab.deploy.ask(ada, deploy))).toBe('not-kept');
    expect((await lab.say('yes')).status).not.toBe('answer');
    expect(await codeOf(lab.deploy.ask(ada, deploy))).toBe('done');
  });

  it('stays open if the journal cannot keep its answer (extensions-that-act §7.6)', async () => {
    let isFull = false;
    const failing = (write: string) =>
      write === 'keyValue' && isFull ? new Error('the disk is full') : undefined;
    await using lab = await askingLab({ journal: memoryJournal(), failing });
    await lab.deploy.ask(ada, deploy);
    isFull = true;
    expect((await lab.say('yes')).status).toBe('failed');
    isFull = false;
    expect((await lab.say('yes')).status).toBe('answer');
    await settled(() => lab.handled.length === 1);
    expect(lab.handled).toHaveLength(1);
  });

  it('whose handler throws is a dead letter (extensions-that-act §7.6)', async () => {
    await using lab = await actingLab({
      journal: memoryJournal(),
      setup: (api) => {
        const broken = api.question('broken', () => {
          throw new Error('it broke');
        });
        api.observe('routing.resolved', 'ask', () => broken.ask(ada, 'Why?').then(() => undefined));
      },
    });
    await lab.say('hello');
    await lab.say('because');
    await settled(() => lab.ends.length === 3);
    const failed = lab.ends.find(({ status }) => status === 'failed');
    expect(failed).toMatchObject({ reason: 'acting/broken: it broke' });
  });

  it.each<[string, QuestionMessage, object]>([
    ['no text', { text: 'x' } as never, {}], // as JavaScript may write it
    ['no words', { content: ' ' }, {}],
    ['no answer', { content: 'x', options: [], takesText: false }, {}],
    ['two options of one text', { content: 'x', options: ['Yes', 'yes'] }, {}],
    ['an option without a label', { content: 'x', options: [{ id: 'a', label: ' ' }] }, {}],
    ['no time', { content: 'x' }, { timeoutMs: 0 }],
    ['too much time', { content: 'x' }, { timeoutMs: 400 * 86_400_000 }],
    ['data that is no JSON', { content: 'x' }, { data: { at: new Date() } }],
  ])('with %s is refused (extensions-that-act §7.1)', async (_, message, options) => {
    await using lab = await askingLab();
    expect(await codeOf(lab.deploy.ask(ada, message, options))).toBe('bad-question');
    expect(lab.channel.sent).toEqual([]);
  });

  it('needs the grant of its channel, a host, and a name of its own (extensions-that-act §7.1)', async () => {
    await using lab = await askingLab({ grants: { acting: ['send:pigeon'] } });
    expect(await codeOf(lab.deploy.ask(ada, deploy))).toBe('not-granted');
    let alone: ExtensionApi | undefined;
    let question: Question | undefined;
    const extension = defineExtension({
      id: 'alone',
      setup: (api) => {
        alone = api;
        question = api.question('why', () => undefined);
      },
    });
    await using _test = await loadForTest(extension);
    expect(await codeOf(question?.ask(ada, 'Why?'))).toBe('no-host');
    expect(() => alone?.question('late', () => undefined)).toThrow(/setup/);
  });

  it('says its options as numbered lines by a channel without buttons (extensions-that-act §7.4)', async () => {
    await using lab = await askingLab({ channel: fakeChannel({ id: 'scripted' }) });
    await lab.deploy.ask(ada, deploy);
    await settled(() => lab.texts().length === 1);
    expect(lab.texts()).toEqual(['Deploy?\n\n1) Yes\n2) Not now']);
  });
});

describe('after a restart', () => {
  const ask = async (journal: Journal, text: string) => {
    const lab = await askingLab({ journal });
    await lab.deploy.ask(ada, { content: text, options: ['Yes', 'No'] }, { timeoutMs: 60_000 });
    await settled(() => lab.texts().length === 1);
    return lab;
  };

  it('the handler of the version that is loaded gets the answer (extensions-that-act §7.1, extensions-that-act §7.6)', async () => {
    const journal = memoryJournal();
    const before = await ask(journal, 'Deploy?');
    await before.kill();
    await using lab = await askingLab({ journal });
    expect((await lab.say('yes')).status).toBe('answer');
    await settled(() => lab.handled.length === 1);
    expect(lab.handled).toMatchObject([{ answer: 'Yes' }]);
    expect(before.handled).toEqual([]);
    expect(lab.texts()).toEqual([]); // it is not asked again
  });

  it('a deadline that passed meanwhile is told (extensions-that-act §7.7)', async () => {
    const journal = memoryJournal();
    const before = await ask(journal, 'Deploy?');
    await before.kill();
    await using lab = await askingLab({ journal });
    await lab.clock.advance(61_000);
    expect(lab.handled).toMatchObject([{ status: 'expired' }]);
  });

  it('an answer waits for an extension that is gone (extensions-that-act §7.8)', async () => {
    const journal = memoryJournal();
    const before = await ask(journal, 'Deploy?');
    await before.kill();
    const without = await actingLab({ journal, channel: withButtons() });
    expect((await without.say('yes')).status).toBe('answer');
    expect((await without.say('yes')).status).toBe('answered'); // by the echo: it counts once
    await settled(() => without.host.stats().conversations === 0);
    await without.kill();
    const [waiting] = await journal.updates({ states: ['accepted', 'handling', 'dead'] });
    expect(waiting).toMatchObject({ channel: 'sluice', accountId: 'question:acting/deploy' });
    await using lab = await askingLab({ journal });
    await settled(() => lab.handled.length === 1);
    expect(lab.handled).toMatchObject([{ status: 'answered', answer: 'Yes' }]);
  });
});

it('is answered in a test host by a press and by a text (extensions-that-act §7.4)', async () => {
  const channel = fakeChannel({ interactive: ['buttons'] });
  await using test = await startTestHost({ channel, extensions: [ask] });
  await test.say({ text: '/deploy 7', commandAuthorized: true });
  await test.clock.advance(0);
  expect((await test.press('Yes')).status).toBe('answer');
  await test.clock.advance(0);
  await test.say({ text: '/deploy 8', commandAuthorized: true });
  expect((await test.say('not now')).status).toBe('answer');
  await test.clock.advance(0);
  const asked = 'Deploy now?';
  expect(test.replies()).toEqual([asked, 'Build 7 goes out.', asked, 'It waits.']);
  await expect(test.press('Maybe')).rejects.toThrow('no message has a button "Maybe"');
});

it('that an older version has persisted without its place in its conversation is answered (durability §12.11)', async () => {
  const journal = memoryJournal();
  const place = { channel: 'scripted', accountId: 'default', to: 'scripted:ada' };
  const asked = { extensionId: 'acting', name: 'deploy', options: [], takesText: true };
  const row = { id: 'old', ...asked, place, digest: '', askedAtMs: 0, dueAtMs: 1e15 };
  await journal.keyValues.write('/questions/acting', row.id, { body: JSON.stringify(row) }, {});
  await using lab = await askingLab({ journal });
  expect((await lab.say('Ada')).status).toBe('answer');
  await settled(() => lab.handled.length === 1);
  expect(lab.handled).toMatchObject([{ id: 'old', answer: 'Ada' }]);
  await settled(() => false); // its row and its place go
  expect(await journal.keyValues.namespaces()).toEqual([]);
});

it('is refused if a thousand are open (extensions-that-act §7.9)', async () => {
  const journal = memoryJournal();
  const quota = { maxKeys: 2_000, maxBytes: 1_000_000 };
  for (let at = 0; at < 1_000; at++) {
    const place = { channel: 'scripted', accountId: 'default', to: `scripted:${at}` };
    const times = { askedAtMs: at, dueAtMs: Number.MAX_SAFE_INTEGER };
    const asked = { extensionId: 'acting', name: 'deploy', options: [], takesText: true };
    const row = { id: `q${at}`, ...asked, place, digest: '', ...times };
    await journal.keyValues.write(
      '/questions/acting',
      row.id,
      { body: JSON.stringify(row) },
      { quota },
    );
  }
  await using lab = await askingLab({ journal });
  expect(await codeOf(lab.deploy.ask(ada, deploy))).toBe('question-full');
  expect((await lab.say({ text: 'Ada', conversation: 'scripted:7' })).status).toBe('answer');
  expect(await codeOf(lab.deploy.ask(ada, deploy))).toBe('done');
});

it('costs a message without open questions no reading of the journal (extensions-that-act §7.5)', async () => {
  const journal = memoryJournal();
  let reads = 0;
  const counting: Journal = {
    ...journal,
    keyValues: {
      ...journal.keyValues,
      get: (...given) => {
        reads++;
        return journal.keyValues.get(...given);
      },
      list: (...given) => {
        reads++;
        return journal.keyValues.list(...given);
      },
    },
  };
  await using lab = await hostLab({ journal: counting });
  await lab.say('hi'); // the start has looked at what is kept for later
  const before = reads;
  await lab.say('hello');
  expect(reads).toBe(before);
});

it('costs a message no reading of the questions of other threads (extensions-that-act §7.5)', async () => {
  const journal = memoryJournal();
  const read: string[] = [];
  const counting: Journal = {
    ...journal,
    keyValues: {
      ...journal.keyValues,
      get: (namespace, key) => {
        read.push(namespace);
        return journal.keyValues.get(namespace, key);
      },
    },
  };
  await using lab = await askingLab({ journal: counting });
  for (const threadId of ['1', '2', '3']) await lab.name.ask({ ...ada, threadId }, 'Your name?');
  const before = read.length;
  expect((await lab.say('hello')).status).toBe('answered'); // by the echo
  expect(read.slice(before)).toEqual(['/questions-in']);
  expect((await lab.say({ text: 'Ada', thread: '2' })).status).toBe('answer');
});
