import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';
import { gatewaySetting } from '../../../src/cli/settings/settings.js';
import { silentLogger } from '../../../src/index.js';
import { gatewayClient } from '../../../src/openclaw/commands/agent/gateway-agent.js';
import { Scope } from '../../../src/sdk/extension/index.js';
import { homeFolder } from '../../../src/sdk/extension/internal.js';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { fixture, runCli } from '../cli.js';

const env = { NODE_OPTIONS: `--import=${pathToFileURL(fixture('no-home.mjs'))}` };
const run = (args: readonly string[], cwd: string) => runCli(args, 'hi\n', { cwd, env });

describe('a user without a home and without an entry in the list of users', () => {
  it('runs each command that reads a config, also with an extension and a journal', async () => {
    using folder = temporaryFolder({
      'loud.mjs':
        "import { defineExtension } from 'sluice';\nexport default defineExtension({ id: 'loud', setup: () => undefined });\n",
      'sluice.config.json': '{ "journal": { "path": "./kept.db" } }',
    });
    expect(await run(['run', '--no-config', '--quiet'], folder.path)).toEqual({
      ...{ code: 0, stdout: 'hi\n', stderr: '' },
    });
    expect(await run(['run', '--quiet'], folder.path)).toMatchObject({ code: 0, stdout: 'hi\n' });
    for (const command of ['stages', 'doctor'])
      expect(await run([command], folder.path)).toMatchObject({ code: 0 });
  });

  it('is told what to name if an agent of a gateway needs a place for its key', async () => {
    const { code, stderr } = await run(
      ['run', '--no-config', '--agent', 'openclaw', '--url', 'ws://127.0.0.1:9'],
      process.cwd(),
    );
    expect(code).toBe(2);
    expect(stderr).toContain('unwritable-file: there is no place for the key');
    expect(stderr).toContain('this user has no home');
    expect(stderr).toContain('gateway: { device: ');
  });
});

describe('the home of a user', () => {
  it('is HOME, and what the system says if that is missing or empty', () => {
    expect(homeFolder({ HOME: '/home/ada' })).toBe('/home/ada');
    expect(homeFolder({})).toBe(homeFolder({ HOME: '' }));
    expect(gatewaySetting(undefined, { HOME: '' }).device).not.toMatch(/^\.sluice/);
  });

  it('may be a folder that nobody can make: the gateway says so', async () => {
    using folder = temporaryFolder({ taken: '' });
    const { device = '' } = gatewaySetting(undefined, {
      HOME: join(folder.path, 'taken'),
    });
    const stop = new AbortController().signal;
    await using scope = new Scope('agents');
    const gateway = { url: 'ws://127.0.0.1:9', device };
    const client = gatewayClient({ gateway, logger: silentLogger, version: '0.0.0', stop, scope });
    await expect(client).rejects.toMatchObject({
      code: 'unwritable-file',
      message: expect.stringMatching(/no place for the key .*(ENOTDIR|EEXIST)/),
    });
  });
});
