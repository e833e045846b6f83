import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { stateFolder } from '../../../../extensions/import-openclaw/test/state-folder.js';
import { readConfigFile } from '../../../../src/cli/internal.js';
import { openJournal } from '../../../../src/journal/index.js';
import { CliProcess, runCli } from '../../../cli/cli.js';
import { runInMemory } from '../../../cli/memory-shell.js';
import { botApiServer, testToken } from '../../../support/bot-api/bot-api.js';
import { messageUpdate } from '../../../support/bot-api/updates.js';
import { testFolder } from '../../../support/folder.js';
import { root } from '../../../support/source-tree.js';

/** The variables that the report of the fixture asks for. */
const variables = {
  SLACK_BOT_TOKEN: 'xoxb-one',
  SLACK_APP_TOKEN: 'xapp-one',
  TELEGRAM_BOT_TOKEN: testToken,
  MODELS_PROVIDERS_LOCAL_API_KEY: 'one',
  PLUGINS_ENTRIES_PIGEON_CONFIG_API_TOKEN: 'one',
  PIGEON_PASSWORD: 'one',
};

/** A folder in which the packages are found, with a state folder that has this config of OpenClaw. */
function place(config: unknown): string {
  const folder = testFolder();
  mkdirSync(join(folder, 'openclaw'));
  writeFileSync(join(folder, 'openclaw', 'openclaw.json'), JSON.stringify(config));
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  return folder;
}

const person = (id: number) => ({
  from: { id, is_bot: false, first_name: `Number ${id}` },
  chat: { id, type: 'private', first_name: `Number ${id}` },
});

describe('sluice import openclaw', () => {
  it('writes a host that the config reader accepts, with its histories', async () => {
    const { path, out } = stateFolder();
    const ended = await runInMemory(['import', 'openclaw', path, '--out', out], '', { env: {} });
    expect([ended.code, ended.stdout]).toEqual([
      0,
      expect.stringContaining('to set: TELEGRAM_BOT_TOKEN'),
    ]);
    expect(ended.stderr.split('\n').filter((line) => line !== '')).toEqual([
      expect.stringContaining('not read: hooks/torn/HOOK.md:3: '),
      expect.stringContaining('not read: agents/main/sessions/0f-1.jsonl:4: '),
    ]);
    symlinkSync(join(root, 'node_modules'), join(out, 'node_modules'));
    const where = { cwd: out, env: variables, journals: [] };
    const config = await readConfigFile('sluice.config.ts', where);
    expect(config.agents?.map(({ id, provider }) => [id, provider])).toEqual([
      ['main', 'claude:claude-opus-4-6'],
      ['work', 'ext:model-work'],
    ]);
    expect(config.agents?.[0]?.systemPrompt).toBe(
      'Be brief, and kind.\n\n\nAda likes green tea.\n',
    );
    expect(config.roles).toEqual({ ada: ['telegram:43', 'slack:U043AB'], owner: ['telegram:43'] });
    const journal = await openJournal(join(out, 'sluice.db'));
    const session = await journal.store.loadSession('agent:main:telegram:direct:ada');
    const history = await journal.store.readTranscript(session?.sessionId ?? '');
    await journal.close();
    expect(history).toEqual([
      {
        role: 'user',
        content: 'Which tea do I like?',
        sender: { id: '43', name: 'Ada' },
        timestamp: 1773565201000,
      },
      expect.objectContaining({
        role: 'assistant',
        content: [{ type: 'text', text: 'Green tea.' }],
        timestamp: 1773565203000,
      }),
    ]);
  });

  it('writes policies that the policy command accepts', async () => {
    const { path, out } = stateFolder();
    await runInMemory(['import', 'openclaw', path, '--out', out], '', { env: {} });
    const { code, stdout } = await runInMemory(['policy', 'test', join(out, 'policies.yaml')]);
    expect(code).toBe(0);
    expect(stdout).toContain('4 rules checked, and 4 examples met\n');
  });

  it('makes a plugin of HOOK.md directories and skills, which works', async () => {
    const { path, out } = stateFolder();
    await runInMemory(['import', 'openclaw', path, '--out', out], '', { env: {} });
    writeFileSync(
      join(out, 'openclaw.json'),
      JSON.stringify({ openclaw: { hooks: { internal: { enabled: true } } } }),
    );
    const parts = join(out, 'openclaw-parts');
    const given = ['check-plugin', parts, '--config', join(out, 'openclaw.json'), '--json'];
    const { code, stdout } = await runInMemory(given);
    expect([code, stdout]).toEqual([
      0,
      expect.stringContaining('"name":"note (message:received)","verdict":"works"'),
    ]);
    expect(stdout).toContain('"kind":"skill","name":"tea"');
  });

  it('names each restriction that would be lost, writes nothing, and takes --accept', async () => {
    const folder = place({ tools: { exec: { security: 'deny', ask: 'always' } } });
    const given = ['import', 'openclaw', 'openclaw', '--out', 'host'];
    const refused = await runInMemory(given, '', { cwd: folder });
    expect([refused.code, refused.stdout, existsSync(join(folder, 'host'))]).toEqual([
      2,
      '',
      false,
    ]);
    expect(refused.stderr).toBe(
      'not kept: tools.exec.security. Write a rule for Bash in policies.yaml.\n' +
        'not kept: tools.exec.ask. Write a rule with `ask when` for Bash in policies.yaml.\n' +
        'sluice: bad-config: 2 restrictions would be lost, and nothing was written. Change them in OpenClaw, or give each up by --accept PATH.\n',
    );
    const accept = ['--accept', 'tools.exec.security', 'tools.exec.ask'];
    const accepted = await runInMemory([...given, ...accept], '', { cwd: folder });
    expect([accepted.code, accepted.stderr]).toEqual([0, '']);
    const again = await runInMemory([...given, ...accept], '', { cwd: folder });
    expect([again.code, again.stdout]).toEqual([
      0,
      expect.stringContaining('host has all of it already'),
    ]);
  });

  it.each([
    [['nowhere'], 'missing-file: there is no nowhere. '],
    [
      ['openclaw', '--accept', 'a.b'],
      'bad-arguments: --accept a.b names no restriction that would be lost. ',
    ],
    [['.'], 'missing-file: '],
  ])('ends with one line at %j', async (args, text) => {
    const folder = place({});
    const { code, stderr } = await runInMemory(['import', 'openclaw', ...args], '', {
      cwd: folder,
    });
    expect([code, stderr.trimEnd().split('\n')]).toEqual([2, [expect.stringContaining(text)]]);
    expect(readdirSync(folder).sort()).toEqual(['node_modules', 'openclaw']);
  });

  it('tells all of it in its help', async () => {
    const { code, stdout } = await runInMemory(['import', 'openclaw', '--help']);
    expect([code, stdout]).toEqual([0, expect.stringContaining('--accept <path...>')]);
  });
});

describe('a host that was moved', () => {
  it('answers 43, and does not answer 42, who was not paired', async () => {
    await using server = await botApiServer();
    const folder = place({
      channels: { telegram: { botToken: testToken, dmPolicy: 'pairing', allowFrom: [43] } },
      session: { dmScope: 'per-channel-peer' },
    });
    const moved = await runCli(['import', 'openclaw', 'openclaw', '--out', 'host'], '', {
      cwd: folder,
    });
    expect([moved.code, moved.stderr]).toEqual([0, '']);
    symlinkSync(join(root, 'node_modules'), join(folder, 'host', 'node_modules'));
    const args = ['run', '--way', '--agent', 'echo', '--api-root', server.url];
    const cwd = join(folder, 'host');
    const cli = new CliProcess(args, { cwd, env: { TELEGRAM_BOT_TOKEN: testToken } });
    await cli.until('@lima_bot takes messages');
    server.give(messageUpdate({ updateId: 101, text: 'let me in', ...person(42) }));
    server.give(messageUpdate({ updateId: 102, text: '/new', ...person(42) }));
    server.give(messageUpdate({ updateId: 103, text: 'hello', ...person(43) }));
    await cli.until('egress.sent');
    cli.child.kill('SIGTERM');
    const { code, stderr } = await cli.ended;
    expect({ code, shown: server.shown }).toMatchObject({ code: 0, shown: [{ text: 'hello' }] });
    expect(server.shown).toHaveLength(1);
    expect(stderr).not.toContain('anyone may write');
    expect(readFileSync(join(cwd, 'import-report.md'), 'utf8')).toContain(
      '`channels.telegram.allowFrom[0]`',
    );
  });
});
