import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, inject, it } from 'vitest';
import { readSource } from '../../../extensions/import-openclaw/src/source/read-source.js';
import { stateFolder } from '../../../extensions/import-openclaw/test/state-folder.js';
import { runCli } from '../../cli/cli.js';
import { testFolder } from '../../support/folder.js';
import { root } from '../../support/source-tree.js';

const programs = inject('gateway');

/** Runs a command of the real OpenClaw with a home and a state folder of its own, without a provider. */
function openClaw(args: readonly string[], home: string, state: string): string {
  const { nodeProgram = '', openClaw: folder = '' } = programs ?? {};
  const entry = join(folder, 'node_modules', 'openclaw', 'openclaw.mjs');
  const path = join(folder, 'openclaw.mjs');
  const file = folder.endsWith('openclaw') ? path : entry;
  const env = { PATH: process.env['PATH'], HOME: home, OPENCLAW_STATE_DIR: state };
  return execFileSync(nodeProgram, [file, ...args], { env, encoding: 'utf8', stdio: 'pipe' });
}

describe.skipIf(programs === undefined)('the steps of docs/migrating-from-openclaw.md', () => {
  it('move the state folder that the real onboarding has made', async () => {
    const folder = testFolder();
    const state = join(folder, 'state');
    mkdirSync(state);
    const flags = ['--mode', 'local', '--auth-choice', 'skip', '--gateway-auth', 'token'];
    const skips = ['channels', 'skills', 'health', 'ui'].map((what) => `--skip-${what}`);
    const own = [
      '--gateway-token',
      'planted-gateway-token',
      '--workspace',
      join(state, 'workspace'),
    ];
    openClaw(
      ['onboard', '--non-interactive', '--accept-risk', ...flags, ...skips, ...own],
      folder,
      state,
    );
    symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
    const imported = ['import', 'openclaw', 'state', '--out', 'host'];
    const moved = await runCli(imported, '', { cwd: folder });
    expect([moved.code, moved.stderr]).toEqual([0, '']);
    const report = readFileSync(join(folder, 'host', 'import-report.md'), 'utf8');
    for (const path of [
      'session.dmScope',
      'tools.profile',
      'gateway.auth.token',
      'wizard.lastRunAt',
    ])
      expect(report.split(`| \`${path}\` |`)).toHaveLength(2);
    expect(report).not.toContain('planted');
    const again = await runCli(imported, '', { cwd: folder });
    expect([again.code, again.stdout]).toEqual([0, expect.stringContaining('all of it already')]);
    const host = join(folder, 'host');
    symlinkSync(join(root, 'node_modules'), join(host, 'node_modules'));
    const args = ['run', '--channel', 'console', '--agent', 'echo', '--quiet'];
    const ended = await runCli(args, 'hello\n', { cwd: host });
    // the onboarding has written the tool profile "coding", which has no tool of the echo
    const denied = 'I may not use echo: this tool is not allowed\n';
    expect([ended.code, ended.stdout]).toEqual([0, denied]);
  });

  it('begin with a config that the real OpenClaw accepts: the fixture of the importer', () => {
    const { path } = stateFolder();
    const folder = testFolder();
    const state = join(folder, 'state');
    cpSync(path, state, { recursive: true });
    // it knows no plugin of this fixture: its channel and its entry are not of the known shape
    const { config } = readSource(path);
    const { plugins: _, channels, ...rest } = config;
    const { pigeon: __, ...known } = channels as Record<string, unknown>; // of the fixture
    writeFileSync(join(state, 'openclaw.json'), JSON.stringify({ ...rest, channels: known }));
    const env = ['SLACK_BOT_TOKEN', 'SLACK_APP_TOKEN'];
    writeFileSync(join(state, '.env'), env.map((name) => `${name}=one\n`).join(''));
    expect(openClaw(['config', 'validate'], folder, state)).toContain('Config valid');
  });
});
