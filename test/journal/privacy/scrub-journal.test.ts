import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { memoryJournal, openJournal, readJournal } from '../../../src/journal/index.js';
import { entryKinds, forgetInFile } from '../../../src/journal/internal.js';
import { scrubber } from '../../../src/journal/privacy/scrub.js';
import { virtualClock } from '../../../src/testing/index.js';
import { compiled } from '../../support/compiled.js';
import { fence, fenceOf } from '../../support/fences.js';
import { testFolder } from '../../support/folder.js';
import { anUpdate } from '../journal-contract.js';
import { describeScrub, sessionOf } from './scrub-contract.js';

type Reader = Pick<Awaited<ReturnType<typeof readJournal>>, 'updates' | 'sends' | 'dispatches'>;

const rowsOf = async (reader: Reader): Promise<string> =>
  JSON.stringify([
    await reader.updates(),
    await reader.sends(),
    await reader.dispatches({ kinds: entryKinds }),
  ]);

const bytesIn = (folder: string): string =>
  readdirSync(folder)
    .map((file) => readFileSync(join(folder, file), 'latin1'))
    .join('\n');

describeScrub('a journal in memory', async () => ({
  open: async (given) => memoryJournal(given),
  all: rowsOf,
}));

describeScrub('a journal in a file', async () => {
  const folder = testFolder();
  const path = join(folder, 'sluice.db');
  return {
    open: (given) => openJournal(path, given),
    forget: (whose, isDry = false) =>
      forgetInFile(path, whose, isDry, new AbortController().signal),
    all: async (journal) => {
      await journal.close();
      await using reader = await readJournal(path);
      return `${await rowsOf(reader)}\n${bytesIn(folder)}`;
    },
  };
});

it('a message that the next host ends is scrubbed with all that the host before it has written (durability §13.2)', async () => {
  const folder = testFolder();
  const path = join(folder, 'sluice.db');
  const given = { clock: virtualClock(), scrub: scrubber({ patterns: { email: true } }) };
  const how = (attempt: number) => ({ fence: { ...fenceOf('u-1'), attempt } });
  const first = await openJournal(path, given);
  await first.accept(anUpdate('u-1', { body: '{"text":"a@leak.example"}' }), true);
  await first.store.saveSession(sessionOf('u-1'), how(1));
  await first.store.appendMessage('s-1', { role: 'user', content: 'a@leak.example' }, how(1));
  await first.store.appendMessage('s-1', { role: 'user', content: 'plain' }, how(1));
  await first.close();
  const next = await openJournal(path, given);
  const { fence: own } = await next.begin('u-1');
  expect(JSON.stringify(await next.store.readTranscript('s-1'))).toContain('a@leak.example');
  await next.store.appendMessage('s-1', { role: 'user', content: 'plain' }, how(2));
  await next.store.appendMessage('s-1', { role: 'user', content: 'b@leak.example' }, how(2));
  const { commits } = next.stats();
  await next.endUpdate(own, { isDead: false, outcome: 'answered' });
  expect(next.stats().commits).toBe(commits + 1); // no further sync
  const held = JSON.stringify(await next.store.readTranscript('s-1', { last: 9 }));
  expect(held.match(/\[email\]|plain/g)).toEqual(['[email]', 'plain', 'plain', '[email]']);
  await next.close();
  expect(bytesIn(folder)).not.toContain('leak.example');
});

it('what a host that was killed has left in the file and its log is scrubbed by the next host that ends it (durability §13.2)', async () => {
  const folder = testFolder();
  const path = join(folder, 'sluice.db');
  const child = await compiled(fileURLToPath(new URL('../fixtures/is-killed.ts', import.meta.url)));
  const running = spawn(process.execPath, [child, path], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  expect((await once(running, 'exit'))[1]).toBe('SIGKILL');
  expect(bytesIn(folder)).toContain('leak.example');
  const next = await openJournal(path, { scrub: scrubber({ patterns: { email: true } }) });
  const { fence: own } = await next.begin('u-1');
  await next.endSend(own, 'u-1.1', { state: 'failed', cause: 'unknown' });
  await next.endUpdate(own, { isDead: true, outcome: 'failed', reason: 'it was begun too often' });
  expect(await next.store.readTranscript('s-1')).toEqual([{ role: 'user', content: '[email]' }]);
  expect((await next.updates())[0]?.body).toBe('{"content":"[email]"}');
  await next.close();
  expect(bytesIn(folder)).not.toContain('leak.example');
});

it('a message that no turn has written is scrubbed when it is written (durability §13.2)', async () => {
  const path = join(testFolder(), 'sluice.db');
  const journal = await openJournal(path, { scrub: scrubber({ patterns: { email: true } }) });
  const entry = { role: 'user', content: 'a@leak.example' } as const;
  await journal.store.appendMessage('s-1', entry, { fence });
  expect(await journal.store.readTranscript('s-1')).toEqual([{ role: 'user', content: '[email]' }]);
  await journal.close();
});
