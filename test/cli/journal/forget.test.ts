import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { openJournal } from '../../../src/journal/index.js';
import { testFolder } from '../../support/folder.js';
import { jsonLines } from '../cli.js';
import { runInMemory } from '../memory-shell.js';

const bytesIn = (folder: string): string =>
  readdirSync(folder).reduce((all, file) => all + readFileSync(join(folder, file), 'latin1'), '');

it('sluice journal forget removes what a sender has said, and all readers of the journal read on (durability §13.6)', async () => {
  const cwd = testFolder();
  writeFileSync(join(cwd, 'sluice.config.json'), '{"journal":{"path":"sluice.db"}}');
  const sluice = (args: string, input = '') => runInMemory(args.split(' '), input, { cwd });
  expect((await sluice('run --quiet', 'the canary sings\n')).stdout).toBe('the canary sings\n');
  const listed = await sluice('journal list --json');
  const [{ eventId: id } = { eventId: '' }] = jsonLines<{ eventId: string }>(listed.stdout);
  const outcomes = async () => [
    ...jsonLines((await sluice('events --kind dispatch')).stdout).length.toString(),
    (await sluice(`explain ${id} --way`)).code,
  ];
  const before = await outcomes();
  expect(bytesIn(cwd)).toContain('canary');
  const dry = await sluice('journal forget --sender local --dry-run');
  expect([dry.code, dry.stdout]).toEqual([
    0,
    `${join(cwd, 'sluice.db')}: texts that would go: messages 1, sends 1, sessions 1, questions 0\n`,
  ]);
  const journal = await openJournal(join(cwd, 'sluice.db'));
  const early = await sluice('journal forget --sender local');
  expect([early.code, early.stderr]).toEqual([1, expect.stringContaining('journal-in-use')]);
  await journal.close();
  const counts = { messages: 1, sends: 1, sessions: 1, questions: 0, open: 0 };
  const done = await sluice('journal forget --sender local --json');
  expect(jsonLines(done.stdout)).toMatchObject([{ of: 'sender', id: 'local', ...counts }]);
  expect(bytesIn(cwd)).not.toMatch(/canary|console:local/);
  expect(await outcomes()).toEqual(before);
  const shown = await sluice(`journal show ${id} --json`);
  expect(jsonLines(shown.stdout)).toMatchObject([{ state: 'ended', outcome: 'answered' }]);
  const [{ dispatches } = { dispatches: [] }] = jsonLines<{ dispatches: { eventId: string }[] }>(
    shown.stdout,
  );
  for (const { eventId } of dispatches.slice(0, 3))
    expect((await sluice(`explain ${eventId}`)).stdout).toContain('(forgotten)');
  const again = await sluice('journal forget --conversation console:local');
  expect(again.stdout).toContain('are gone: messages 0, sends 0, sessions 0, questions 0');
  const unnamed = await sluice('journal forget');
  expect([unnamed.code, unnamed.stderr]).toEqual([2, expect.stringContaining('bad-arguments')]);
});
