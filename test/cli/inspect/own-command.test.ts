import { afterEach, beforeEach, expect, it } from 'vitest';
import { ownCommand } from '../../../src/cli/inspect/own-command.js';
import { cliProgram } from '../../support/compiled.js';
import { testFolder } from '../../support/folder.js';

const [, ownProgram = ''] = process.argv;

beforeEach(() => {
  process.argv[1] = cliProgram;
});
afterEach(() => {
  process.argv[1] = ownProgram;
});

const shell = () => ({
  ...{ cwd: testFolder(), env: { PATH: process.env['PATH'] } },
  stop: new AbortController().signal,
});

it('a line of stdout that is no JSON is a note, and ends no host', async () => {
  const { cwd, ...rest } = shell();
  const { writeFileSync } = await import('node:fs');
  writeFileSync(
    `${cwd}/loud.mjs`,
    "process.stdout.write('hello from setup\\n');\nexport default { id: 'loud', setup() {} };\n",
  );
  const { lines, notes } = await ownCommand(
    ['stages', '--no-config', '--extension', './loud.mjs'],
    { cwd, ...rest },
  );
  expect(lines.length).toBeGreaterThan(10);
  expect(notes.join('\n')).toContain('hello from setup');
});

it('a command that fails without a line says why', async () => {
  await expect(ownCommand(['replay', '--journal', './none.db'], shell())).rejects.toThrow(
    /^sluice replay failed: .*none\.db/,
  );
});
