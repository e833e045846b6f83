import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  expectDenied,
  expectReply,
  fakeChannel,
  startTestHost,
  virtualClock,
} from 'sluice/testing';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { agentOf, isLetIn, maySend, type Origin, sessionKeyOf } from '../src/carried/place.js';
import { settings } from '../src/carried/settings.js';
import { dataOf } from '../src/data.js';
import extension, { importOpenClaw } from '../src/index.js';
import type { Row } from '../src/report/rows.js';
import { stateOf } from './state-folder.js';

const origin = (id: string, group?: string, threadId?: number, accountId = 'default'): Origin => ({
  channel: 'telegram',
  accountId,
  from: `telegram:${id}`,
  conversationId: `telegram:${group ?? id}`,
  isGroup: group !== undefined,
  sender: { id },
  ...(threadId !== undefined && { threadId }),
});

/** The settings that an import of Telegram writes for our extension, and for its package. */
async function imported(telegram: object, more: object = {}) {
  const state = stateOf({ channels: { telegram }, ...more });
  const { status, findings } = await importOpenClaw(state);
  expect([status, findings.filter(({ isRefused }) => isRefused)]).toEqual(['written', []]);
  const text = readFileSync(join(state.out, 'sluice.config.ts'), 'utf8');
  const { extensions } = parse(
    text.slice(text.indexOf('defineConfig(') + 13, text.lastIndexOf(')')),
  ) as {
    readonly extensions: readonly {
      readonly path: string;
      readonly config: Record<string, unknown>;
    }[];
  }; // as it was written
  const of = (path: string) => extensions.find((one) => one.path === path)?.config;
  return { carried: settings.parse(of('sluice-import-openclaw')), telegram: of('sluice-telegram') };
}

describe('the people whom an imported host lets in', () => {
  it.each([
    [
      'those who are listed or paired, and nobody by a name',
      { allowFrom: [43, '@ada', '*'] },
      ['43'],
    ],
    [
      'everybody, if it is open for all',
      { dmPolicy: 'open', allowFrom: ['*'] },
      ['42', '43', '44'],
    ],
    [
      'those who are listed, if it is open and names some',
      { dmPolicy: 'open', allowFrom: [43] },
      ['43'],
    ],
    ['nobody, if it is disabled', { dmPolicy: 'disabled', allowFrom: [43] }, []],
    ['nobody, if nothing is said', {}, []],
    ['nobody, if the policy is an unknown word', { dmPolicy: 'moon' }, []],
  ])('in private are %s', async (_, rules, expected) => {
    const { carried, telegram } = await imported(rules);
    const people = ['42', '43', '44'].filter((id) => isLetIn(carried.access, origin(id)));
    expect(people).toEqual(expected);
    // a list of nobody would let everybody give commands
    if (!expected.some((id) => id === '42')) expect(telegram?.['allowFrom']).not.toEqual([]);
  });

  it.each([
    ['no group, if none is named', { allowFrom: [43] }, []],
    [
      'those of the private list, if a group has none',
      { allowFrom: [43], groups: { '-1': {} } },
      ['43@-1'],
    ],
    [
      'those of the list for groups',
      { allowFrom: [43], groupAllowFrom: [44], groups: { '-1': {} } },
      ['44@-1'],
    ],
    [
      'those of the group alone',
      { allowFrom: [43], groups: { '-1': { allowFrom: [44] } } },
      ['44@-1'],
    ],
    [
      'all of each group, if groups are open',
      { groupPolicy: 'open' },
      ['43@-1', '44@-1', '43@-2', '44@-2'],
    ],
    [
      'those of named groups, if groups are open and some are named',
      { groupPolicy: 'open', groups: { '-2': {} } },
      ['43@-2', '44@-2'],
    ],
    [
      'the list in each group, if the star is named',
      { allowFrom: [43], groups: { '*': {} } },
      ['43@-1', '43@-2'],
    ],
    [
      'nobody of a group that is off',
      { groupPolicy: 'open', groups: { '*': {}, '-1': { enabled: false } } },
      ['43@-2', '44@-2'],
    ],
    [
      'nobody, if groups are off',
      { groupPolicy: 'disabled', groups: { '*': { allowFrom: ['*'] } } },
      [],
    ],
  ])('in groups are %s', async (_, rules, expected) => {
    const { carried } = await imported(rules);
    const places = ['-1', '-2'].flatMap((group) => ['43', '44'].map((id) => [id, group] as const));
    const admitted = places.filter(([id, group]) => isLetIn(carried.access, origin(id, group)));
    expect(admitted.map(([id, group]) => `${id}@${group}`)).toEqual(expected);
  });

  it('in a topic are those of the topic, and of an account that is off nobody', async () => {
    const groups = { '-1': { allowFrom: [43], topics: { 9: { allowFrom: [44] } } } };
    const accounts = { one: { groups }, two: { enabled: false, groups } };
    const { carried } = await imported({ accounts });
    const admitted = [
      origin('44', '-1', 9, 'one'),
      origin('43', '-1', 9, 'one'),
      origin('43', '-1', 8, 'one'),
      origin('43', '-1', 8, 'two'),
    ];
    expect(admitted.map((one) => isLetIn(carried.access, one))).toEqual([true, false, true, false]);
  });

  it('are those of the account, under either name of a setting', async () => {
    const off = { two: { dm: { policy: 'disabled' } } };
    const state = stateOf({
      channels: { slack: { dmPolicy: 'open', allowFrom: ['*'], accounts: off } },
    });
    await importOpenClaw(state);
    const text = readFileSync(join(state.out, 'sluice.config.ts'), 'utf8');
    expect(text.replace(/\s/g, '')).toContain('"two":{"dm":[],');
  });

  it('are not mixed: bots with different people end the import', async () => {
    const accounts = { one: { allowFrom: [1] }, two: { allowFrom: [2] } };
    const { status, findings } = await importOpenClaw(
      stateOf({ channels: { telegram: { accounts } } }),
    );
    const lost = findings.filter(({ isRefused }) => isRefused).map(({ path }) => path);
    expect([status, lost]).toEqual([
      'refused',
      [
        'channels.telegram.accounts.one.allowFrom[0]',
        'channels.telegram.accounts.two.allowFrom[0]',
      ],
    ]);
  });
});

describe('the place of a message', () => {
  it('is the agent of the closest binding', () => {
    const match = (more: object) => ({ channel: 'telegram', ...more });
    const peer = (id: string) => ({ peer: { kind: 'group', id } });
    const { bindings, defaultAgent } = settings.parse({
      bindings: [
        { agentId: 'any', match: match({ accountId: '*' }) },
        { agentId: 'account', match: match({}) },
        { agentId: 'group', match: match({ accountId: '*', ...peer('-1') }) },
        { agentId: 'topic', match: match({ accountId: '*', ...peer('-1:topic:9') }) },
      ],
    });
    const agents = [
      origin('1'),
      origin('1', undefined, undefined, 'b'),
      origin('1', '-1'),
      origin('1', '-1', 9),
      { ...origin('1'), channel: 'slack' },
    ].map((one) => agentOf({ bindings, defaultAgent }, one));
    expect(agents).toEqual(['account', 'any', 'group', 'topic', 'main']);
  });

  it.each([
    ['main', 'agent:a:main'],
    ['per-peer', 'agent:a:direct:ada'],
    ['per-channel-peer', 'agent:a:telegram:direct:ada'],
    ['per-account-channel-peer', 'agent:a:telegram:b:direct:ada'],
  ])('is the session that OpenClaw had for the scope %s', (dmScope, key) => {
    const config = settings.parse({ dmScope, identityLinks: { Ada: ['telegram:42'] } });
    expect(sessionKeyOf(config, 'a', origin('42', undefined, undefined, 'b'))).toBe(key);
    expect(sessionKeyOf(config, 'a', origin('42', '-1', 9))).toBe(
      'agent:a:telegram:group:-1:topic:9',
    );
  });

  it('may be sent to as the policy says: a denial wins, and what no rule names has the default', () => {
    const { sendPolicy } = settings.parse({
      sendPolicy: {
        default: 'deny',
        rules: [
          { action: 'allow', match: { channel: 'telegram' } },
          { action: 'deny', match: { chatType: 'group' } },
          { action: 'deny', match: { keyPrefix: 'telegram:direct:9' } },
        ],
      },
    });
    const to = (isGroup: boolean | undefined, channel = 'telegram', sessionKey = '') =>
      maySend(sendPolicy, { channel, sessionKey, ...(isGroup !== undefined && { isGroup }) });
    expect([
      to(false),
      to(true),
      to(undefined),
      to(false, 'slack'),
      to(false, 'telegram', 'agent:a:telegram:direct:9'),
    ]).toEqual([true, false, false, false, false]);
  });
});

describe('the extension', () => {
  it('answers those who are let in, in the session of OpenClaw, and cancels the others without a word', async () => {
    const access = { fake: { default: { dm: ['ada'], groups: {} } } };
    await using test = await startTestHost({ extensions: [{ extension, config: { access } }] });
    expectDenied(await test.say({ text: 'let me in', from: 'eve' }), {
      code: 'policy',
      by: 'openclaw-import/access',
    });
    const answered = await test.say({ text: 'hello', from: 'ada' });
    expectReply(answered, 'hello');
    expect([answered.sessionKey, test.replies()]).toEqual(['agent:main:main', ['hello']]);
  });

  it('asks an agent at the time of a schedule, and sends the answer to its address', async () => {
    const asked = { cron: '0 16 * * *', timeZone: 'Europe/Lisbon', agentId: 'main' };
    const to = { channel: 'telegram', to: '43' };
    const schedules = [
      { name: 'tea', ...asked, sessionKey: 'agent:main:cron:tea', text: 'Tea?', to },
      {
        name: 'quiet',
        ...asked,
        sessionKey: 'a:b',
        text: 'HEARTBEAT_OK',
        to,
        silent: 'HEARTBEAT_OK',
      },
    ];
    const channel = fakeChannel({ id: 'telegram' });
    const clock = virtualClock(Date.parse('2026-03-16T15:59:30Z'));
    const extensions = [{ extension, config: { schedules } }];
    await using test = await startTestHost({ extensions, channel, clock });
    await test.clock.advance(60_000);
    expect(channel.sent.map(({ to: address, content }) => [address, content])).toEqual([
      ['43', 'Tea?'],
    ]);
  });

  it('keeps back what the send policy denies, also of a send that answers nothing', async () => {
    const sendPolicy = { rules: [{ action: 'deny', match: { channel: 'fake' } }] };
    await using test = await startTestHost({ extensions: [{ extension, config: { sendPolicy } }] });
    expectDenied(await test.say('hello'), { code: 'policy', by: 'openclaw-import/answers' });
    await test.host.send({ channel: 'fake', to: 'ada', content: 'news' });
    await test.clock.advance(1_000);
    expect(test.replies()).toEqual([]);
  });
});

describe('the data of the package', () => {
  it('has the shapes that the code reads', () => {
    for (const { paths, is } of dataOf<readonly Row[]>('paths'))
      expect([
        paths.length > 0,
        paths.every((path) => /^[\w$*.-]+$/.test(path)),
        ['converted', 'converted with a difference', 'not supported', 'not needed'].includes(is),
      ]).toEqual([true, true, true]);
    const { groups, profiles, claude } = dataOf<Record<string, Record<string, unknown>>>('tools');
    for (const lists of [groups, profiles, claude])
      for (const list of Object.values(lists ?? {})) expect(Array.isArray(list)).toBe(true);
    expect(Object.keys(dataOf<object>('services'))).toContain('openrouter');
  });
});
