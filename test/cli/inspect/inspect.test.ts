import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { installable } from '../../../src/cli/installed/package-source.js';
import { openJournal } from '../../../src/journal/index.js';
import { testFolder } from '../../support/folder.js';
import { CliProcess, root } from '../cli.js';
import { runInMemory } from '../memory-shell.js';

async function journalFile(): Promise<string> {
  const path = join(testFolder(), 'sluice.db');
  await (await openJournal(path)).close();
  return path;
}

/** The address of the page, as a command has printed it, and what it says of itself to one who knows the token. */
async function aboutOf(cli: CliProcess): Promise<unknown> {
  await cli.until('#token=');
  const [, origin, token] = /inspector at (\S+)\/#token=(\S+)/.exec(cli.stderr) ?? [];
  const answer = await fetch(`${origin}/api/about`, {
    headers: { authorization: `Bearer ${token}` },
  });
  return answer.json();
}

describe('sluice inspect', () => {
  it('serves the page on a journal until it is stopped', async () => {
    const path = await journalFile();
    const cli = new CliProcess(['inspect', '--journal', path, '--no-config'], { cwd: root });
    expect(await aboutOf(cli)).toMatchObject({
      name: path,
      write: false,
      live: false,
      replays: true,
    });
    cli.child.kill('SIGTERM');
    expect((await cli.ended).code).toBe(0);
  });

  it('says what to install', async () => {
    const { code, stderr } = await runInMemory(['inspect', '--journal', await journalFile()], '', {
      cwd: testFolder(),
    });
    expect([code, stderr]).toEqual([
      2,
      `sluice: missing-package: the page is in the package "sluice-inspector", which is not installed here. Run \`npm install ${installable('sluice-inspector')}\`.\n`,
    ]);
  });

  it('refuses what is no port', async () => {
    const path = await journalFile();
    const args = ['inspect', '--journal', path, '--no-config', '--port', '70000'];
    const { code, stderr } = await runInMemory(args);
    expect([code, stderr.includes('"70000" is no inspect.port: ')]).toEqual([2, true]);
  });
});

describe('sluice run --inspect', () => {
  it.each(['--inspect-write', '--inspect-text'])('is needed by %s', async (option) => {
    const { code, stderr } = await runInMemory(['run', '--no-config', option], 'hello\n');
    expect([code, stderr]).toEqual([2, expect.stringContaining('Add --inspect.')]);
  });

  it('serves the page on the host that runs, with leave to change things', async () => {
    const cli = new CliProcess(['run', '--no-config', '--inspect', '--inspect-write'], {
      cwd: root,
    });
    const about = { name: 'this host', write: true, text: false, live: true, replays: false };
    expect(await aboutOf(cli)).toMatchObject(about);
    cli.child.stdin.end('hello\n');
    expect((await cli.ended).code).toBe(0);
  });
});
