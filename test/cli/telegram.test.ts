import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { botApiServer, testToken } from '../support/bot-api/bot-api.js';
import { messageUpdate } from '../support/bot-api/updates.js';
import { CliProcess, runCli } from './cli.js';

const root = fileURLToPath(new URL('../..', import.meta.url));

describe('sluice run --channel telegram', () => {
  it('needs nothing but a token: it says who it is, answers, and ends cleanly', async () => {
    await using server = await botApiServer();
    const cli = new CliProcess(
      ['run', '--way', '--channel', 'telegram', '--api-root', server.url],
      {
        env: { TELEGRAM_BOT_TOKEN: testToken },
      },
    );
    await cli.until('@lima_bot takes messages');
    await cli.until('anyone may write to @lima_bot');
    server.give(messageUpdate({ updateId: 101, text: 'hello' }));
    await cli.until('egress.sent');
    cli.child.kill('SIGTERM');
    const { code, stdout, stderr } = await cli.ended;
    expect({ code, stdout }).toEqual({ code: 0, stdout: '' });
    expect(stderr).not.toContain(testToken.slice(11));
    expect(server.shown).toMatchObject([{ text: 'hello' }]);
    expect(server.offset).toBe(102);
  });

  it.each([
    ['none', {}, 'TELEGRAM_BOT_TOKEN holds no token; set it to the one that @BotFather gave you'],
    ['a malformed one', { TELEGRAM_BOT_TOKEN: 'hunter2' }, 'it should be digits, a colon and 35'],
  ])(
    'with %s for a token says what to do, and not what it found',
    async (_, env, text) => {
      const { code, stderr } = await runCli(['run', '--channel', 'telegram'], '', { env });
      expect(code).toBe(1);
      expect(stderr).toContain(text);
      expect(stderr).not.toContain('hunter2');
    },
    300_000,
  );

  it('takes its settings from a config file, where the token is the name of a secret', async () => {
    await using server = await botApiServer();
    const folder = await mkdtemp(join(tmpdir(), 'sluice-telegram-'));
    try {
      const config = {
        channels: ['telegram'],
        extensions: [
          {
            path: 'sluice-telegram',
            config: { accounts: { lima: { token: { env: 'LIMA' } } }, allowFrom: ['ada_l'] },
          },
        ],
      };
      await writeFile(join(folder, 'telegram.json'), JSON.stringify(config));
      const args = ['run', '--config', join(folder, 'telegram.json'), '--api-root', server.url];
      const cli = new CliProcess(args, { cwd: root, env: { LIMA: testToken } });
      await cli.until('@lima_bot takes messages');
      cli.child.kill('SIGTERM');
      const { code, stderr } = await cli.ended;
      expect(code).toBe(0);
      expect(stderr).not.toContain('anyone may write');
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  it('has the doctor know the form of its token, in the config and written out (§20.5)', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'sluice-telegram-'));
    try {
      const accounts = { lima: { token: { env: 'LIMA' } }, mike: { token: testToken } };
      const extensions = [{ path: 'sluice-telegram', config: { accounts } }];
      await writeFile(join(folder, 'telegram.json'), JSON.stringify({ extensions }));
      const args = ['doctor', '--config', join(folder, 'telegram.json')];
      const { code, stdout } = await runCli(args, '', { cwd: root, env: { LIMA: '123:abc' } });
      const said = stdout.replace(/\s+/g, ' ');
      expect(code).toBe(1);
      expect(said).toContain('a Telegram bot token is digits, a colon and 35 characters');
      expect(said).toContain('mike.token holds a Telegram bot token, written out');
      expect(said).not.toContain(testToken);
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  it('begins a host by sluice init, whose config names who may write', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'sluice-telegram-'));
    try {
      const made = await runCli(['init', 'bot', '--channel', 'telegram'], '', { cwd: folder });
      expect(made).toMatchObject({ code: 0, stderr: '' });
      expect(made.stdout).toContain('TELEGRAM_BOT_TOKEN');
      const config = await readFile(join(folder, 'bot/sluice.config.ts'), 'utf8');
      expect(config).toContain("channels: ['telegram']");
      expect(config).toContain('allowFrom: []');
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  it('is what --api-root is for', async () => {
    const { code, stderr } = await runCli(['run', '--api-root', 'http://127.0.0.1:9']);
    expect(code).toBe(2);
    expect(stderr).toContain("unknown option '--api-root'");
  });

  it('leaves who may write to a setting that cannot be read: nothing stands in for it', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'sluice-telegram-'));
    try {
      const extensions = [{ path: 'sluice-telegram', config: { allowedFrom: [42] } }];
      const config = { channels: ['telegram'], extensions };
      await writeFile(join(folder, 'telegram.json'), JSON.stringify(config));
      const args = ['run', '--config', join(folder, 'telegram.json')];
      const env = { TELEGRAM_BOT_TOKEN: testToken };
      const { code, stderr } = await runCli(args, '', { env });
      expect(code).toBe(2);
      expect(stderr).toContain('allowedFrom');
      expect(stderr).toContain('there is no channel "telegram"');
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});
