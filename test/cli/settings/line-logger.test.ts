import { execFileSync } from 'node:child_process';
import { statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { lineLogger, openLog } from '../../../src/cli/settings/logger.js';
import { journalError } from '../../../src/journal/errors.js';
import { makePrivate } from '../../../src/journal/internal.js';
import { temporaryFolder } from '../../support/temporary-folder.js';

/** The lines of a log for people. */
function logged(fields: Readonly<Record<string, unknown>>, isOwn: boolean): readonly string[] {
  const lines: string[] = [];
  const output = { lines: (some: readonly string[]) => void lines.push(...some) };
  const logger = lineLogger(output as never, 'info', new AbortController().signal, isOwn); // it uses nothing else
  logger.error('"/remind" failed', fields);
  return lines;
}

const at = 'at [^ ]+/line-logger\\.test\\.ts:\\d+:\\d+';

describe('an error in the log for people (event-pipeline §20.3)', () => {
  it('of this project has its code, its text and the place in the code of its author', () => {
    const [line] = logged({ error: journalError('journal-in-use', { path: './x.db' }) }, false);
    expect(line).toMatch(
      new RegExp(
        `^sluice: error: "/remind" failed \\(journal-in-use: Journal \\./x\\.db is in use by another process\\. ${at}\\)$`,
      ),
    );
  });

  it('stands behind the fields that the message does not say, and so does a reason', () => {
    const fields = {
      server: 'lab',
      tool: '/remind',
      problem: 'it has no schema',
      of: [1],
      none: undefined,
    };
    const told = 'server: lab; problem: it has no schema; of: [1]'; // the message says the name of the tool
    expect(logged(fields, false)[0]).toBe(`sluice: error: "/remind" failed (${told})`);
    const reason = { ...fields, detail: 'said by Ada', family: 'egress.sent' };
    expect(logged(reason, false)[0]).toContain(`(${told}; --debug shows more)`);
    expect(logged(reason, true)[0]).toContain(`(${told}; said by Ada)`);
  });

  it('of others has no text in the log of a daemon, which says so, and has it at a terminal', () => {
    const error = new TypeError('no user Ada');
    expect(logged({ error }, false)[0]).toMatch(
      new RegExp(`failed \\(TypeError ${at}; --debug shows more\\)$`),
    );
    expect(logged({ error }, true)[0]).toMatch(
      new RegExp(`failed \\(TypeError: no user Ada ${at}\\)$`),
    );
    expect(logged({ error: 'thrown text' }, false)[0]).toMatch(/failed \(--debug shows more\)$/);
    expect(logged({ error: 'thrown text' }, true)[0]).toMatch(/failed \(thrown text\)$/);
    expect(logged({}, false)[0]).toMatch(/failed$/);
  });
});

describe.skipIf(process.platform === 'win32')('a log file (durability §1.13)', () => {
  it.each([false, true])(
    'is for its user alone, also with --debug, and if it was there: %s',
    async (wasThere) => {
      using folder = temporaryFolder({});
      const file = join(folder.path, 'host.log');
      if (wasThere) writeFileSync(file, 'before\n', { mode: 0o644 });
      const settings = { logging: { file }, workspaceDir: folder.path, secrets: [] };
      const shell = {
        stderr: { lines: () => undefined },
        isTerminal: { stdin: false, stdout: false },
      };
      const log = openLog(settings as never, shell as never, { level: 'info', debug: true }); // it reads nothing else
      log.logger.info('begun');
      await log[Symbol.asyncDispose]();
      expect((statSync(file).mode & 0o777).toString(8)).toBe('600');
      expect(statSync(file).size).toBeGreaterThan(10);
    },
  );

  it('that is no file, such as a device, keeps its mode: it is not for the host alone', async () => {
    using folder = temporaryFolder({});
    const pipe = join(folder.path, 'pipe');
    execFileSync('mkfifo', ['-m', '666', pipe]);
    makePrivate(pipe, []);
    expect((statSync(pipe).mode & 0o777).toString(8)).toBe('666');
  });
});
