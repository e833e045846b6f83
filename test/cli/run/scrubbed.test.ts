import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { testFolder } from '../../support/folder.js';
import { runInMemory } from '../memory-shell.js';

const mail = 'ada@leak.example';

const teller = `export default { kind: 'sluice-extension', id: 'teller', config: undefined, setup(api) {
  api.observe('ingress.normalized', 'tells', ({ payload }) => api.log.info(payload.content));
} };`;

/** Runs a host whose config scrubs addresses, with an extension that logs what people write. */
async function runWith(logging: object, ...args: string[]) {
  const cwd = testFolder();
  const journal = { path: 'sluice.db', scrub: { patterns: { email: true } } };
  const config = { journal, logging, extensions: [{ path: './teller.mjs' }] };
  writeFileSync(join(cwd, 'teller.mjs'), teller);
  writeFileSync(join(cwd, 'sluice.config.json'), JSON.stringify(config));
  return { cwd, ...(await runInMemory(['run', ...args], `write to ${mail}\n`, { cwd })) };
}

it('sluice run --json prints timelines without what is scrubbed (durability §13.1)', async () => {
  const { code, stdout, stderr } = await runWith({}, '--json');
  expect([code, stdout]).toEqual([0, expect.stringContaining('write to [email]')]);
  expect(stdout + stderr).not.toContain(mail);
});

it.each(['text', 'json'])(
  'sluice run gives people all words, and keeps none that are scrubbed in a log of %s (durability §13.1)',
  async (format) => {
    const { code, stdout, stderr } = await runWith({ format, level: 'info' }, '--debug');
    expect([code, stdout]).toEqual([0, expect.stringContaining(`write to ${mail}`)]);
    expect(stderr).not.toContain(mail);
    expect(stderr).toContain('write to [email]');
  },
);

it('sluice run keeps no words that are scrubbed in the file of its log (durability §13.1)', async () => {
  const { cwd, code } = await runWith({ file: 'sluice.log', level: 'info' });
  const log = readFileSync(join(cwd, 'sluice.log'), 'utf8');
  expect([code, log]).toEqual([0, expect.stringContaining('write to [email]')]);
  expect(log).not.toContain(mail);
});
