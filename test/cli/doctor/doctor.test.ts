import { once } from 'node:events';
import { chmodSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { Type } from 'typebox';
import { describe, expect, it } from 'vitest';
import { checkRoles } from '../../../src/cli/doctor/check-access.js';
import { checkFamilies, probe } from '../../../src/cli/doctor/check-families.js';
import { dispatchTap } from '../../../src/host/timeline/dispatch-tap.js';
import { openJournal } from '../../../src/journal/index.js';
import {
  canonicalStages,
  createKernel,
  defineStage,
  type HandlerClass,
  type Kernel,
  type OpenContribution,
  openKernel,
} from '../../../src/kernel/internal.js';
import type { Question } from '../../../src/sdk/extension/index.js';
import { actingLab } from '../../support/acting-lab.js';
import { fenceOf } from '../../support/fences.js';
import { type TemporaryFolder, temporaryFolder } from '../../support/temporary-folder.js';
import { jsonLines } from '../cli.js';
import { runInMemory } from '../memory-shell.js';

interface Found {
  readonly severity: string;
  readonly check: string;
  readonly what: string;
  readonly whose?: string;
  readonly hint?: string;
  readonly code?: string;
}

const extension = (id: string, setup: string): string =>
  `export default { kind: 'sluice-extension', id: '${id}', config: { '~standard': { version: 1, vendor: 'test', validate: (value) => ({ value }) } }, setup(api, config) { ${setup} } };`;

/** What the doctor finds in a folder, and its exit code. */
async function examined(
  files: Readonly<Record<string, string>>,
  args: readonly string[] = [],
  env: Readonly<Record<string, string>> = {},
): Promise<{ code: number | null; found: Found[]; text: string; folder: string }> {
  using folder: TemporaryFolder = temporaryFolder(files);
  const surroundings = { cwd: folder.path, env };
  const ended = await runInMemory(['doctor', '--json', ...args], '', surroundings);
  const people = await runInMemory(['doctor', ...args], '', surroundings);
  expect(people.code).toBe(ended.code);
  return {
    code: ended.code,
    found: jsonLines<Found>(ended.stdout),
    text: people.stdout + people.stderr,
    folder: folder.path,
  };
}

/** Contributes to a family that the types do not know. */
function contributeTo(
  kernel: Kernel,
  contribution: Omit<OpenContribution, 'extensionId' | 'id'>,
): void {
  openKernel(kernel).contribute({ extensionId: 'test', id: 'x', ...contribution });
}

const config = (content: object): Readonly<Record<string, string>> => ({
  'sluice.config.json': JSON.stringify(content),
});

describe('sluice doctor (§20.5)', () => {
  it('finds nothing wrong with a host that is fine, and says what it looked at', async () => {
    const { code, found, text } = await examined(
      {
        ...config({ extensions: [{ path: './one.mjs', config: { token: { env: 'ONE_TOKEN' } } }] }),
        'one.mjs': extension(
          'one',
          `api.veto('egress.preparing', 'all', { preview: 'ok' }, () => ({ kind: 'allow' }));`,
        ),
      },
      [],
      { ONE_TOKEN: 'a-good-long-token' },
    );
    expect(code).toBe(0);
    expect(found.filter(({ severity }) => severity !== 'ok')).toEqual([]);
    expect(new Set(found.map(({ check }) => check))).toEqual(
      new Set(['versions', 'config', 'agents', 'channels', 'extensions', 'families', 'journal']),
    );
    expect(text).toContain('a probe event reached 1 handler in 1 family');
    expect(text.trimEnd().split('\n').at(-1)).toBe('0 errors, 0 warnings');
  });

  it.each([
    ['ten minutes where unsaid', {}, 'a turn takes 600000 ms at most'],
    ['what is set', { timeoutMs: 5_000 }, 'a turn takes 5000 ms at most'],
    ['none', { timeoutMs: false }, 'a turn has no time limit'],
  ])('says how long a turn may take: %s', async (_, limits, limit) => {
    const agents = [{ id: 'main', provider: 'echo', ...limits }];
    const { code, found, text } = await examined(config({ agents }));
    expect(code).toBe(0);
    const what = `answered by "echo", ${limit}`;
    expect(found).toContainEqual({ severity: 'ok', check: 'agents', whose: 'main', what });
    expect(text.replace(/\s+/g, ' ')).toContain(what);
  });

  it.each<[string, Readonly<Record<string, string>>, Partial<Found>]>([
    [
      'a setting that does not fit',
      config({ agnt: 'echo' }),
      { check: 'config', code: 'bad-config', hint: 'Did you mean "agent"?' },
    ],
    [
      'IV.1: a text for a failure that does not exist (§16.19)',
      config({ failureText: { 'time-out': 'Too slow.' } }),
      { check: 'config', code: 'bad-config', hint: 'Did you mean "timed-out"?' },
    ],
    [
      'IV.1: an empty text for a failure (§16.19)',
      config({ failureText: { busy: '' } }),
      { check: 'config', code: 'bad-config', hint: expect.stringMatching(/^Write a text/) },
    ],
    [
      'a secret that is not there',
      config({ openclaw: { token: { env: 'NOT_SET' } } }),
      { check: 'config', hint: 'Set NOT_SET where the host is started.' },
    ],
    [
      'a recording that is not there',
      config({ agent: 'replay:none.jsonl' }),
      { check: 'agents', code: 'missing-file' },
    ],
    [
      'an extension that is not there',
      config({ extensions: [{ path: './none.mjs' }] }),
      { check: 'extensions', code: 'module-not-found' },
    ],
    [
      'an extension whose import throws (fault 30)',
      { ...config({ extensions: [{ path: './one.mjs' }] }), 'one.mjs': 'throw new Error("no");' },
      { check: 'extensions', code: 'module-failed' },
    ],
    [
      'an extension without a default export (fault 30)',
      { ...config({ extensions: [{ path: './one.mjs' }] }), 'one.mjs': 'export const one = 1;' },
      { check: 'extensions', code: 'no-extension' },
    ],
    [
      'an extension whose setup throws',
      {
        ...config({ extensions: [{ path: './one.mjs' }] }),
        'one.mjs': extension('one', 'throw new Error("no");'),
      },
      { check: 'extensions', code: 'setup-failed' },
    ],
    [
      'an unknown family, with the nearest',
      {
        ...config({ extensions: [{ path: './one.mjs' }] }),
        'one.mjs': extension('one', `api.observe('egress.sendng', 'x', () => {});`),
      },
      {
        check: 'extensions',
        code: 'unknown-family',
        what: expect.stringContaining('egress.sending'),
      },
    ],
    [
      'a class that a family does not allow',
      {
        ...config({ extensions: [{ path: './one.mjs' }] }),
        'one.mjs': extension('one', `api.veto('egress.sending', 'x', () => {});`),
      },
      { check: 'extensions', code: 'class-not-allowed' },
    ],
    [
      'a family of subagents, which no agent of the host starts',
      {
        ...config({ extensions: [{ path: './one.mjs' }] }),
        'one.mjs': extension('one', `api.resolve('subagent.delivery.resolving', 'x', () => {});`),
      },
      {
        check: 'families',
        whose: 'one/x',
        what: '"subagent.delivery.resolving" is never emitted here: no agent of this host starts subagents',
      },
    ],
    [
      'a family that this host does not emit',
      {
        ...config({ extensions: [{ path: './one.mjs' }] }),
        'one.mjs': extension('one', `api.augment('interaction.received', 'x', () => {});`),
      },
      {
        check: 'families',
        whose: 'one/x',
        what: expect.stringContaining('the console has no buttons'),
      },
    ],
    [
      'a gate where the agent tells of tools afterwards',
      {
        ...config({ agent: 'replay:r.jsonl', extensions: [{ path: './one.mjs' }] }),
        'r.jsonl': '',
        'one.mjs': extension('one', `api.veto('agent.tool.calling', 'x', () => {});`),
      },
      {
        check: 'families',
        whose: 'one/x',
        what: expect.stringContaining('a cancel or patch at "agent.tool.calling" has no effect'),
      },
    ],
    [
      'a resource that cannot be undone',
      {
        ...config({ extensions: [{ path: './one.mjs' }] }),
        'one.mjs': extension('one', `api.own('socket', () => { throw new Error('stuck'); });`),
      },
      { check: 'extensions', whose: 'one', what: '"socket" could not be undone: stuck' },
    ],
    [
      'a channel that nothing provides',
      config({ channels: ['fax'] }),
      { check: 'channels', whose: 'fax' },
    ],
    [
      'a grant that names no field',
      config({ grants: { one: ['agent.prompt.building'] } }),
      { check: 'config', code: 'bad-config' },
    ],
    [
      'an override that names no handler',
      config({ overrides: { 'one/x': { priority: 1 } } }),
      { check: 'extensions', code: 'bad-config' },
    ],
  ])('finds %s: an error, with what to do, and exit code 1', async (_, files, expected) => {
    const { code, found, text } = await examined(files);
    expect(code).toBe(1);
    const errors = found.filter(({ severity }) => severity === 'error');
    expect(errors).toContainEqual(expect.objectContaining(expected));
    for (const { hint, what } of errors) {
      expect(hint, what).toMatch(/\S/);
      expect(text.replace(/\s+/g, ' ')).toContain(what.split(' ').slice(0, 3).join(' '));
    }
  });

  it('A8: tells of an observer of a family that nothing emits, and blames nobody', async () => {
    const { code, found } = await examined({
      ...config({ extensions: [{ path: './one.mjs' }] }),
      'one.mjs': extension(
        'one',
        `for (const family of ['subagent.delivery.resolved', 'interaction.received'])
          api.observe(family, family, () => {});`,
      ),
    });
    expect(code).toBe(0);
    const told = found.filter(({ what }) => what.includes('is never emitted here'));
    expect(told.map(({ severity, whose }) => [severity, whose])).toEqual([
      ['ok', 'one/interaction.received'],
      ['ok', 'one/subagent.delivery.resolved'],
    ]);
    expect(found.filter(({ severity }) => severity !== 'ok')).toEqual([]);
  });

  it.each([
    ['nothing', ['"acme.checking" is never emitted here: nothing emits it yet']],
    ['interactive-channel', [expect.stringContaining('the console has no buttons')]],
    ['subagent', [expect.stringContaining('no agent of this host starts subagents')]],
    ['host', []],
    ['turn', []],
    ['extension', []],
  ] as const)(
    'A8: finds a family that this host never emits by its source (%s), whatever its name',
    async (emittedBy, expected) => {
      const stage = defineStage({
        family: 'acme.checking',
        classes: ['observer'],
        mode: 'parallel',
        payload: Type.Object({}),
        emittedBy,
      });
      const kernel = createKernel({ stages: [stage] });
      contributeTo(kernel, {
        family: 'acme.checking',
        class: 'observer',
        handler: () => undefined,
      });
      const found = await checkFamilies({ kernel, providers: [], channels: ['console'] });
      const told = found.filter(({ what }) => what.includes('is never emitted here'));
      expect(told.map(({ what }) => what)).toEqual(expected);
      expect(found.filter(({ severity }) => severity !== 'ok')).toEqual([]);
    },
  );

  it.each([
    ['a placeholder', 'your-token-here', 'it is a placeholder'],
    ['spaces', ' 123:abc ', 'there are spaces around it'],
    ['quotes', '"123:abc"', 'there are quotes around it'],
  ])(
    'finds a channel token that cannot be right, and does not show it: %s',
    async (_, token, why) => {
      const { code, found, text } = await examined(
        {
          ...config({
            extensions: [{ path: './pigeon.mjs', config: { pigeon: { token: { env: 'BOT' } } } }],
          }),
          'pigeon.mjs': extension('pigeon', ''),
        },
        [],
        { BOT: token },
      );
      expect(code).toBe(1);
      expect(found).toContainEqual(
        expect.objectContaining({ check: 'secrets', what: expect.stringContaining(why) }),
      );
      if (token.length > 10) expect(text).not.toContain(token);
    },
  );

  it('M2: warns of a secret file that others may read, and run does, too', async () => {
    using folder: TemporaryFolder = temporaryFolder({
      ...config({
        journal: { path: './kept.db' },
        extensions: [{ path: './one.mjs', config: { token: { secretFile: './token' } } }],
      }),
      'one.mjs': extension('one', ''),
      token: 'a-good-long-token',
    });
    const secretFile = join(folder.path, 'token');
    const warned = async (...args: readonly string[]) => {
      const { stdout, stderr } = await runInMemory(args, '', { cwd: folder.path });
      return stdout + stderr;
    };
    chmodSync(secretFile, 0o644);
    expect(await warned('doctor', '--json')).toContain(
      'others may read this secret: its mode is 644',
    );
    expect(await warned('run')).toContain('others may read the secret file');
    expect((statSync(join(folder.path, 'kept.db')).mode & 0o777).toString(8)).toBe('600');
    chmodSync(secretFile, 0o600);
    for (const command of [['doctor', '--json'], ['run']])
      expect(await warned(...command)).not.toContain('others may read');
  });

  it('names the handlers because of which no answer is shown while it grows (§14.7)', async () => {
    const setup = `api.veto('egress.preparing', 'sign', () => undefined); api.mutate('egress.preparing', 'keys', () => undefined);`;
    const { found } = await examined({
      ...config({ extensions: [{ path: './guard.mjs' }] }),
      'guard.mjs': extension('guard', setup),
    });
    expect(found).toContainEqual(
      expect.objectContaining({
        severity: 'warning',
        what: "no answer is shown while it grows: guard/keys, guard/sign lack preview: 'ok'",
      }),
    );
  });

  it('names entries of roles that no account can meet (judgement §1.6)', async () => {
    const roles = {
      admin: ['console:local', 'consle:local', 'console/work:local'],
      owner: ['console/default:local'],
    };
    const { found, code } = await examined(config({ roles }));
    const told = found.filter(({ check }) => check === 'roles');
    expect(told.map(({ severity, whose, what }) => [severity, whose, what])).toEqual([
      ['warning', 'admin: consle:local', expect.stringContaining('did you mean "console"')],
      ['warning', 'admin: console/work:local', 'channel "console" has no account "work"'],
      ['ok', 'admin', 'may be met by one entry'],
      ['ok', 'owner', 'may be met by one entry'],
    ]);
    expect(code).toBe(0);
    const { text } = await examined(config({ roles: { admin: ['telegram'] } }));
    expect(text).toContain('channel:SENDER');
  });

  it('says of a role on a channel that proves nobody that no sender can meet it (judgement §1.6)', () => {
    const http = { id: 'http', accounts: ['default'], capabilities: { provesNobody: true } };
    expect(checkRoles({ roles: { admin: ['http:local'] } }, ['http'], [http])).toMatchObject([
      { severity: 'warning', what: 'channel "http" proves nobody: it has no keys' },
    ]);
  });

  it('warns of a secret that is written out in the file, and does not show it', async () => {
    const token = 'xoxb-1234567890-AAaaBBbbCCcc';
    const { code, found, text } = await examined({
      ...config({
        extensions: [
          {
            path: './one.mjs',
            config: {
              note: token,
              apiKey: 'abcdefgh',
              maxTokens: 'no',
              list: [{ password: 'x1' }],
            },
          },
        ],
        grants: { one: [], oen: [] },
      }),
      'one.mjs': extension('one', ''),
    });
    expect(code).toBe(0);
    const warnings = found.filter(({ severity }) => severity === 'warning');
    expect(warnings.map(({ what }) => what)).toEqual([
      'extensions[0].config.note holds a Slack token, written out',
      'extensions[0].config.apiKey holds a secret, written out',
      'extensions[0].config.list[0].password holds a secret, written out',
      '"grants" names "oen", and no such extension is loaded',
    ]);
    expect(text).not.toContain(token);
    expect(text).not.toContain('abcdefgh');
    expect(text).toContain('4 warnings');
  });

  it('warns of a password in the address of a PostgreSQL, and does not show it', async () => {
    const url = 'postgres://sluice:hunter22@127.0.0.1:1/none';
    const { found, text } = await examined(config({ journal: { url } }));
    const warnings = found.filter(({ check }) => check === 'secrets');
    expect(warnings.map(({ what }) => what)).toEqual(['journal.url holds a password, written out']);
    expect(text).not.toContain('hunter22');
  });

  it.each(['mysql://127.0.0.1/none', 'postgres://', 'postgres://[', '127.0.0.1:5432', ''])(
    'refuses "%s" as the address of a journal: no kind of journals has it',
    async (url) => {
      const { found } = await examined(config({ journal: { url } }));
      expect(found.filter(({ severity }) => severity === 'error')).toEqual([
        expect.objectContaining({
          what: 'sluice.config.json at journal.url: expected an address that begins with "postgres://"',
          hint: 'Write the address of a PostgreSQL that keeps the journal instead of a file, as { "env": "DATABASE_URL" }.',
        }),
      ]);
    },
  );

  it('says that a disabled handler is not reached, which is what the operator wanted', async () => {
    const { code, found } = await examined({
      ...config({
        extensions: [{ path: './one.mjs' }],
        overrides: { 'one/x': { disabled: true } },
      }),
      'one.mjs': extension('one', `api.observe('egress.sent', 'x', () => {});`),
    });
    expect(code).toBe(0);
    expect(found).toContainEqual(
      expect.objectContaining({
        severity: 'ok',
        whose: 'one/x',
        what: expect.stringContaining('does not reach it: disabled'),
      }),
    );
  });

  it.each([
    ['a trusted field', 'agent.prompt.building:systemPrompt', {}, true],
    [
      'a trusted field that it has',
      'agent.prompt.building:systemPrompt',
      { grants: { one: ['agent.prompt.building:systemPrompt'] } },
      false,
    ],
    ['a class, where nobody is held to grants', 'veto:egress.preparing', {}, false],
    ['a class, under least privilege', 'veto:egress.preparing', { leastPrivilege: true }, true],
    [
      'a class that a pattern covers',
      'veto:egress.preparing',
      { leastPrivilege: true, grants: { one: ['*:egress.*'] } },
      false,
    ],
    [
      'a class, where it is held to others',
      'veto:egress.preparing',
      { grants: { one: ['veto:agent.*'] } },
      true,
    ],
    [
      'a dispatch, which is nobody’s without a grant',
      'dispatch:egress.sent',
      { grants: { one: ['*:*'] } },
      true,
    ],
    [
      'a dispatch that a pattern covers',
      'dispatch:egress.sent',
      { grants: { one: ['dispatch:egress.*'] } },
      false,
    ],
    ['an observer, which everybody may be', 'observer:*', { leastPrivilege: true }, false],
  ])(
    'says whether an extension has what its manifest asks for: %s',
    async (_, asked, given, isMissing) => {
      const { code, found } = await examined({
        ...config({ ...given, extensions: [{ path: './one.mjs' }] }),
        'one.mjs': extension('one', '').replace(
          "id: 'one',",
          `id: 'one', manifest: { grants: ['${asked}'] },`,
        ),
      });
      expect(code).toBe(0);
      expect(found.filter(({ check }) => check === 'grants')).toEqual([
        expect.objectContaining({
          severity: isMissing ? 'warning' : 'ok',
          whose: 'one',
          what: expect.stringContaining(`asks for ${asked}`),
        }),
      ]);
    },
  );

  it('looks at the journal: its place, its form, and what waits in it', async () => {
    const journalOf = async (path: string, files: Readonly<Record<string, string>> = {}) => {
      const { code, found } = await examined({ ...config({ journal: { path } }), ...files });
      return { code, found: found.filter(({ check }) => check === 'journal') };
    };
    expect(await journalOf('./new.db')).toMatchObject({
      code: 0,
      found: [{ what: 'will be made there' }],
    });
    expect(await journalOf('./none/new.db')).toMatchObject({
      code: 1,
      found: [{ severity: 'error', what: 'its folder is not there' }],
    });
    expect(
      await journalOf('./text.db', { 'text.db': 'no database, but a text'.repeat(50) }),
    ).toMatchObject({
      code: 1,
      found: [{ severity: 'error', hint: expect.stringMatching(/\S/) }],
    });
    using folder = temporaryFolder(config({ journal: { path: './sluice.db' } }));
    const journal = await openJournal(join(folder.path, 'sluice.db'));
    for (const eventId of ['waits', 'dead'])
      await journal.accept({ eventId, channel: 'console', accountId: 'default', receivedAtMs: 1 });
    await journal.begin('dead');
    await journal.endUpdate(fenceOf('dead'), { isDead: true, outcome: 'failed' });
    const { code, stdout } = await runInMemory(['doctor', '--json'], '', { cwd: folder.path }); // a host has it open
    expect(code).toBe(0);
    expect(jsonLines<Found>(stdout).filter(({ check }) => check === 'journal')).toMatchObject([
      { severity: 'ok', what: 'can be read; 1 message waits to be handled' },
      { severity: 'warning', what: 'holds 1 dead letter' },
    ]);
    await journal.close();
  });

  it('names a match that no dispatch of the journal has met, and an operator’s that narrows a fail-closed veto (judgement §2.4, judgement §2.9)', async () => {
    const setup = `
      api.veto('agent.tool.calling', 'met', { match: { toolName: 'Ba*' } }, () => ({ kind: 'allow' }));
      api.veto('agent.tool.calling', 'never', { match: { toolName: 'bash' } }, () => ({ kind: 'allow' }));
      api.veto('agent.tool.calling', 'ref', { match: { 'accountRef.channel': 'pigeon' } }, () => ({ kind: 'allow' }));
      api.veto('egress.preparing', 'unheard', { match: { kind: 'notice' } }, () => ({ kind: 'allow' }));
      api.veto('agent.tool.calling', 'strict', { failClosed: true }, () => ({ kind: 'allow' }));`;
    using folder = temporaryFolder({
      ...config({
        extensions: [{ path: './one.mjs' }],
        journal: { path: './sluice.db' },
        overrides: { 'one/strict': { match: { toolName: ['Bash'] } } },
      }),
      'one.mjs': extension('one', setup),
    });
    const journal = await openJournal(join(folder.path, 'sluice.db'));
    const kernel = createKernel({ tap: dispatchTap(journal) });
    const accountRef = { channel: 'pigeon', id: '1' };
    await kernel.dispatch('agent.tool.calling', { toolName: 'Bash', params: {} }, { accountRef });
    await journal.close();
    const { stdout } = await runInMemory(['doctor', '--json'], '', { cwd: folder.path });
    expect(jsonLines<Found>(stdout).filter(({ check }) => check === 'matches')).toMatchObject([
      {
        severity: 'warning',
        whose: 'one/strict',
        what: 'a veto that fails closed is narrowed by the operator if toolName is Bash',
      },
      {
        severity: 'warning',
        whose: 'one/never',
        what: 'is never called: none of the last 1 dispatch of "agent.tool.calling" in the journal meets its match, if toolName is bash',
      },
      {
        severity: 'unchecked',
        whose: 'one/unheard',
        what: 'its match: the journal has no payload of "egress.preparing"',
      },
    ]);
  });

  it('names schedules and questions that no extension registers any more, and those that wait for it (extensions-that-act §5.4)', async () => {
    using folder = temporaryFolder({});
    const journal = await openJournal(join(folder.path, 'sluice.db'));
    {
      const questions: { ask?: Question['ask'] } = {};
      await using _lab = await actingLab({
        journal,
        setup: (api) => {
          api.schedule('tea', { cron: '0 16 * * *' }, () => undefined);
          questions.ask = api.question('deploy', () => undefined).ask;
        },
      });
      await questions.ask?.({ channel: 'scripted', to: 'c1' }, 'Shall I?');
    }
    await journal.close();
    const suspended = async (setup: string) => {
      const module = `./acting-${setup.length}.mjs`; // a module is imported once
      writeFileSync(join(folder.path, module), extension('acting', setup));
      const written = { journal: { path: './sluice.db' }, extensions: [{ path: module }] };
      for (const [name, text] of Object.entries(config(written)))
        writeFileSync(join(folder.path, name), text);
      const { code, stdout } = await runInMemory(['doctor', '--json'], '', { cwd: folder.path });
      expect(code).toBe(0);
      const found = jsonLines<Found>(stdout).filter(({ what }) => what.includes('suspended'));
      return found.map(({ severity, what }) => [severity, what]);
    };
    expect(await suspended('')).toEqual([
      ['ok', 'schedule acting/tea is kept and suspended: no extension registers it'],
      [
        'warning',
        'question acting/deploy is kept and suspended: no extension registers it, and 1 job or question waits for it',
      ],
    ]);
    const tea = `api.schedule('tea', { cron: '0 9 * * *' }, () => {});`;
    const deploy = `api.question('deploy', () => {});`;
    expect(await suspended(`${tea} ${deploy}`)).toEqual([]);
  });

  it('looks at the routes of extensions: the port for them, their form, and a path that two want (extensions-that-act §9.6)', async () => {
    const route = (path: string): string =>
      `api.provide('route', { method: 'GET', path: '${path}', handler: () => new Response('') });`;
    const routes = async (given: object, ...paths: readonly string[]) => {
      const ids = paths.map((_, at) => `e${at}`);
      const { code, found } = await examined({
        ...config({ ...given, extensions: ids.map((id) => ({ path: `./${id}.mjs` })) }),
        ...Object.fromEntries(
          ids.map((id, at) => [`${id}.mjs`, extension(id, route(paths[at] ?? ''))]),
        ),
      });
      const told = found.filter(({ check }) => check === 'routes');
      return [code, ...told.map(({ severity, whose, what }) => [severity, whose, what])];
    };
    const health = { port: 8080 };
    const plugins = [{ path: './nowhere', routes: true }];
    expect((await routes({ plugins }))[1]).toEqual([
      ...['warning', './nowhere', 'may answer HTTP requests, and no port is open for it'],
    ]);
    expect((await routes({ plugins, health })).slice(1)).toEqual([]);
    expect(await routes({}, '/metrics')).toEqual([
      0,
      ['warning', 'e0', 'provides GET /metrics, and no port is open for it'],
    ]);
    expect(await routes({ health }, '/metrics', '/metrics', '/readyz')).toEqual([
      1,
      ['ok', 'e0', 'answers GET /metrics at the health port'],
      ['error', 'e1', 'the route GET /metrics is left out: the extension "e0" has that path'],
      ['error', 'e2', `the route GET /readyz is left out: "/readyz" is the host's own`],
    ]);
  });

  it('tells the parts that an agent works without, once it has tried them, with their own words', async () => {
    const agent = `let all = []; api.provide('agent', { id: 'it', provider: {
      id: 'it', models: ['m'], toolGate: 'enforce', async *run() {}, troubles: () => all,
      tried: async () => { all = [{ whose: 'wiki', what: 'it cannot be used', detail: 'spawn ENOENT' }, { whose: 'files/x', what: 'left out: name is 7' }]; },
    } });`;
    const { code, found } = await examined({
      ...config({ agent: 'ext:it', extensions: [{ path: './one.mjs' }] }),
      'one.mjs': extension('one', agent),
    });
    expect(code).toBe(0);
    expect(
      found.filter(({ whose, severity }) => whose?.startsWith('main: ') && severity !== 'ok'),
    ).toEqual([
      {
        ...{ severity: 'warning', check: 'agents', whose: 'main: wiki' },
        ...{ what: 'it cannot be used', hint: 'spawn ENOENT' },
      },
      {
        ...{ severity: 'warning', check: 'agents', whose: 'main: files/x' },
        ...{ what: 'left out: name is 7', hint: 'Fix it, or do without it.' },
      },
    ]);
  });

  it('--running asks the host that runs: what troubles it is a warning, and a host that takes nothing in is an error (sight §7.3)', async () => {
    const answer = {
      ...{ ready: true, state: 'running' },
      degraded: [
        { code: 'dead-letters', count: 3 },
        { code: 'veto-failed-open', whose: 'guard/judge', count: 1 },
        { code: 'agent-part', whose: 'wiki/find', what: 'left out: name is ""', count: 1 },
      ],
    };
    const told = { ...answer };
    const server = createServer((_, response) => void response.end(JSON.stringify(told)));
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const { port } = server.address() as AddressInfo; // it listens at a port
    const url = `http://127.0.0.1:${port}`;
    const running = async (...args: readonly string[]) => {
      const { code, found } = await examined(config({ health: { port } }), ['--running', ...args]);
      const of = found.filter(({ check }) => check === 'running');
      return [code, ...of.map(({ severity, whose, what }) => [severity, whose, what])];
    };
    const warnings = [
      ['warning', url, 'dead-letters: 3 times'],
      ['warning', 'guard/judge', 'veto-failed-open: 1 time'],
      ['warning', 'wiki/find', 'agent-part: left out: name is ""'],
    ];
    expect(await running()).toEqual([0, ['ok', url, 'takes messages'], ...warnings]);
    Object.assign(told, { ready: false, journal: { code: 'database-full' } });
    expect(await running(url)).toEqual([
      1,
      ['error', url, 'takes no messages: its journal takes nothing in (database-full)'],
      ...warnings,
    ]);
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
    expect(await running()).toEqual([
      1,
      ['error', url, expect.stringMatching(/^no host of this version answers: .*ECONNREFUSED/)],
    ]);
    const six = await examined(config({ health: { address: '::1', port } }), ['--running']);
    expect(six.found.at(-1)?.whose).toBe(`http://[::1]:${port}`);
    const unnamed = await examined({}, ['--running']);
    expect(unnamed.found.at(-1)).toMatchObject({ severity: 'error', check: 'running' });
  });

  it('asks a channel what its accounts lack, without connecting them', async () => {
    const channel = (check: string): string =>
      extension(
        'pigeon',
        `api.provide('channel', { id: 'pigeon', capabilities: {}, accounts: ['north', 'south'],
          resendPolicy: { ambiguous: 'fail', maxAttempts: 1, maxWaitMs: 0 },
          startAccount: async () => { throw new Error('STARTED'); }, stopIntake: async () => {}, stopAccount: async () => {},
          decodeIngress: () => ({ kind: 'ignored', reason: 'none' }), send: async () => ({ status: 'rejected', reason: 'none' }),
          ${check} });`,
      );
    const channels = async (check: string, ...args: string[]) => {
      const settings = { channels: ['pigeon'], extensions: [{ path: './pigeon.mjs' }] };
      const files = { ...config(settings), 'pigeon.mjs': channel(check) };
      const { code, found } = await examined(files, args);
      return { code, found: found.filter((one) => one.check === 'channels') };
    };
    const fine = { code: 0, found: [{ severity: 'ok', whose: 'pigeon' }] };
    const what = 'its accounts: it has no checkAccount';
    const unchecked = { severity: 'unchecked', whose: 'pigeon', what };
    expect(await channels('')).toMatchObject({ code: 0, found: [...fine.found, unchecked] });
    expect(await channels('', '--complete')).toMatchObject({ code: 1 });
    expect(await channels('checkAccount: async () => {},')).toMatchObject(fine);
    expect(
      await channels(
        `checkAccount: async (id) => { if (id === 'south') throw new Error('PIGEON_TOKEN holds no token'); },`,
      ),
    ).toMatchObject({
      code: 1,
      found: [
        {
          severity: 'error',
          whose: 'pigeon/south',
          what: 'PIGEON_TOKEN holds no token',
          hint: expect.stringMatching(/\S/),
        },
      ],
    });
  });

  it('calls no handler and starts no channel', async () => {
    const { code, folder, text } = await examined({
      ...config({ extensions: [{ path: './one.mjs' }] }),
      'one.mjs': extension(
        'one',
        `for (const family of ['runtime.started', 'command.received', 'egress.preparing', 'agent.starting'])
           api.observe(family, family, () => { console.error('CALLED ' + family); });
         api.provide?.('channel', { id: 'pigeon', accounts: ['a'], capabilities: {}, resendPolicy: { ambiguous: 'fail', maxAttempts: 1, maxWaitMs: 0 },
           startAccount: async () => { console.error('STARTED'); }, stopIntake: async () => {}, stopAccount: async () => {},
           decodeIngress: () => ({ kind: 'ignored', reason: '' }), send: async () => ({ status: 'rejected', reason: '' }) });`,
      ),
    });
    expect({ code, folder }).toMatchObject({ code: 0 });
    expect(text).not.toMatch(/CALLED|STARTED/);
    expect(text).toContain('pigeon: is there, and was not started');
  });
});

describe('a probe event', () => {
  it.each(canonicalStages.map((stage) => [stage.family, stage] as const))(
    'reaches a handler of each class of %s, whatever its order and policy',
    async (family, stage) => {
      const kernel = openKernel(createKernel({ stages: [stage] }));
      stage.classes.forEach((one: HandlerClass, at: number) => {
        for (const priority of [-1, 5])
          kernel.contribute({
            family,
            class: one,
            extensionId: `e${at}`,
            id: `p${priority}`,
            priority,
            ...(one === 'veto' && { failClosed: true }),
            handler: () => {
              throw new Error('a probe calls nobody');
            },
          });
      });
      const [info] = kernel.stages();
      if (info === undefined) throw new Error('no stage');
      expect(info.handlers).toHaveLength(stage.classes.length * 2);
      expect(await probe(info)).toEqual([]);
    },
  );
});
