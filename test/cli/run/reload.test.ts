import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CliProcess, fixture, runCli } from '../cli.js';

let folder = '';

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sluice-reload-'));
});

afterEach(() => rmSync(folder, { recursive: true }));

/** Writes an extension that signs answers with what the file beside it says. */
function write(name: string): void {
  writeFileSync(join(folder, 'name.ts'), `export const name: string = '${name}';\n`);
  writeFileSync(
    join(folder, 'sign.ts'),
    `import { name } from './name.js';
export default {
  kind: 'sluice-extension', id: 'sign', config: undefined,
  setup(api: any) {
    api.mutate('egress.preparing', 'sign', ({ payload }: any) => ({ content: payload.content + ' ' + name }));
  },
};
`,
  );
}

describe('sluice run reloads (§13.9)', () => {
  it('with --watch what an extension imports, and keeps the version before where the new one cannot be read', async () => {
    write('one');
    const cli = new CliProcess(['run', '--quiet', '--watch', '-e', join(folder, 'sign.ts')]);
    cli.child.stdin.write('hi\n');
    await cli.until('hi one\n');
    writeFileSync(join(folder, 'name.ts'), "export const name: string = 'two';\n");
    await cli.until('sluice: sign was reloaded');
    cli.child.stdin.write('hi\n');
    await cli.until('hi two\n');
    writeFileSync(join(folder, 'name.ts'), 'export const name = ');
    await cli.until('sign was not reloaded, and runs as it was');
    await cli.until('sluice: module-failed:'); // the log leaves texts out (§20.3): the command tells why
    cli.child.stdin.end('again\n');
    expect(await cli.ended).toMatchObject({ code: 0, stdout: 'hi one\nhi two\nagain two\n' });
  });

  it('on SIGHUP all of them', async () => {
    write('one');
    const cli = new CliProcess(['run', '--quiet', '-e', join(folder, 'sign.ts')]);
    cli.child.stdin.write('hi\n');
    await cli.until('hi one\n');
    write('two');
    cli.child.kill('SIGHUP');
    await cli.until('sluice: sign was reloaded');
    cli.child.stdin.end('hi\n');
    expect(await cli.ended).toMatchObject({ code: 0, stdout: 'hi one\nhi two\n' });
  });
});

describe('an error of an extension in sluice run (§20.3)', () => {
  /** Writes an extension that fails in a command, too late in a second one, in a handler, and maybe in its setup. */
  const writeFaulty = (setup: string): string => {
    const file = join(folder, 'bad.mjs');
    writeFileSync(
      file,
      `export default {
  kind: 'sluice-extension', id: 'bad', config: undefined,
  setup(api) {
    ${setup}
    const command = (name, run) => api.provide('command', { name, description: 'Fails.', run });
    command('remind', () => { throw new TypeError('no such day'); });
    command('late', () => { api.observe('egress.sent', 'late', () => undefined); });
    api.mutate('egress.preparing', 'sign', ({ payload }) => {
      if (payload.content === 'boom') throw new RangeError('said by Ada');
    });
  },
};
`,
    );
    return file;
  };

  it('has its code, the text of an error of Sluice and the place in the code of its author', async () => {
    const file = writeFaulty('');
    const cli = new CliProcess(['run', '--way', '-e', file]);
    cli.child.stdin.write('/remind\n');
    await cli.until(`"/remind" failed (surface: console; TypeError at ${file}:6:`);
    await cli.until('failed ("/remind" failed: TypeError: no such day)'); // its way
    cli.child.stdin.write('/late\n');
    await cli.until('setup-ended: bad/late: api.observe("egress.sent") came after setup had ended');
    await cli.until(`at ${file}:7:`);
    cli.child.stdin.write('boom\n');
    await cli.until('bad/sign failed open: threw, RangeError: said by Ada');
    writeFaulty("throw new Error('no key');");
    cli.child.kill('SIGHUP');
    await cli.until(`bad was not reloaded, and runs as it was (setup-failed at ${file}:4:`);
    await cli.until('sluice: setup-failed: bad: setup failed: no key.');
    cli.child.stdin.end();
    const { stderr } = await cli.ended;
    expect(stderr).toContain('--debug shows more');
    expect(stderr).not.toMatch(/ at [^ ]*\/dist\//);
  });

  it('has the text of any error with --debug, and without it none', async () => {
    const file = writeFaulty('');
    const stderrOf = async (...more: readonly string[]) =>
      (await runCli(['run', '--quiet', '-e', file, ...more], 'boom\n')).stderr;
    const quiet = await stderrOf();
    expect(quiet).toContain(`RangeError at ${file}:9:`);
    expect(quiet).not.toContain('said by Ada');
    expect(await stderrOf('--debug')).toContain('said by Ada');
  });
});

describe('sluice run --strict (§13.10)', () => {
  it('does not start where an extension cannot be loaded', async () => {
    const { code, stdout, stderr } = await runCli(
      ['run', '--strict', '--quiet', '-e', fixture('broken.ts')],
      'hi\n',
    );
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(/sluice: module-failed: .*broken\.ts/);
    expect(stderr).toContain('nothing was started: --strict');
  });

  it('holds for every extension that the config asks least privilege of', async () => {
    const file = join(folder, 'sluice.json');
    write('one');
    const extensions = [{ path: './sign.ts' }];
    writeFileSync(file, JSON.stringify({ strict: true, leastPrivilege: true, extensions }));
    const refused = await runCli(['run', '--quiet', '--config', file], 'hi\n');
    expect(refused).toMatchObject({ code: 2, stdout: '' });
    expect(refused.stderr).toContain('not-granted: sign is not granted mutator:egress.preparing.');
    const grants = { sign: ['mutator:egress.*'] };
    writeFileSync(file, JSON.stringify({ strict: true, leastPrivilege: true, grants, extensions }));
    expect(await runCli(['run', '--quiet', '--config', file], 'hi\n')).toMatchObject({
      code: 0,
      stdout: 'hi one\n',
    });
  });
});
