import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openJournal } from '../../../src/journal/index.js';
import { anUpdate, aSend } from '../../journal/journal-contract.js';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { jsonLines } from '../cli.js';
import { runInMemory } from '../memory-shell.js';

const [yesterday, today] = [Date.now() - 86_400_000, Date.now()].map((ms) =>
  new Date(ms).toISOString().slice(0, 10),
);

/** A journal with a conversation that waits, a dead letter, a failed send, a question and figures of a budget. */
async function aJournal(path: string): Promise<void> {
  const journal = await openJournal(path);
  const lane = '["telegram","default","telegram:42",""]';
  for (const id of ['u-1', 'u-2']) await journal.accept(anUpdate(id, { lane }));
  await journal.accept(anUpdate('u-3'));
  const { fence } = await journal.begin('u-3');
  await journal.prepare(fence, aSend('s-1'));
  await journal.endSend(fence, 's-1', { state: 'failed', cause: 'rejected', reason: 'blocked' });
  await journal.endUpdate(fence, { isDead: true, outcome: 'failed', reason: 'provider-failed' });
  const quota = { maxKeys: 100, maxBytes: 100_000 };
  const write = (namespace: string, key: string, value: unknown) =>
    journal.keyValues.write(namespace, key, { body: JSON.stringify(value) }, { quota });
  await write('/questions/acme', 'q-1', {
    ...{ id: 'q-1', extensionId: 'acme', name: 'lunch', place: {}, options: [], digest: 'd' },
    ...{ takesText: true, askedAtMs: 1, dueAtMs: 2 },
  });
  for (const [key, tokens] of [
    [`${yesterday}/total/a`, 7],
    [`${today}/total/a`, 1200],
    [`${today}/perPrincipal/b`, 5],
  ] as const)
    await write('budget', key, { name: 'all', used: { tokens, microUsd: 20_000 }, holds: {} });
  await journal.close();
}

const found = [
  'in the journal: 2 messages open, 1 dead letter',
  expect.stringMatching(/^ {2}telegram default telegram:42: 2, since \d{4}-/),
  'last failures: 2',
  expect.stringMatching(/^ {2}\S+ u-3 scripted\/default dead: provider-failed$/),
  expect.stringMatching(/^ {2}\S+ s-1 scripted\/- reply failed \(rejected\): blocked$/),
  'open questions: 1',
  '  acme/lunch, until 1970-01-01T00:00:00.002Z',
  `used: ${today}/total: all: 1200 tokens, $0.02`,
];

describe('sluice status', () => {
  it('tells how the host that runs is, with what its journal knows; and if no host answers, the journal alone', async () => {
    using folder = temporaryFolder();
    await aJournal(join(folder.path, 'sluice.db'));
    const told = {
      ...{ ready: true, state: 'running', uptimeMs: 60_000, messages: 2, turns: 1 },
      accounts: [{ channel: 'telegram', accountId: 'default' }],
      starting: [{ channel: 'slack', accountId: 'acme', failures: 2, code: 'invalid_auth' }],
      degraded: [{ code: 'dead-letters', count: 1 }],
    };
    const inside = { kernel: { plansBuilt: 51 } };
    const server = createServer(
      (_, response) => void response.end(JSON.stringify({ ...told, ...inside })),
    );
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const { port } = server.address() as AddressInfo; // it listens at a port
    const url = `http://127.0.0.1:${port}`;
    const config = { journal: { path: './sluice.db' }, health: { port } };
    folder.write('sluice.config.json', JSON.stringify(config));
    const status = (...args: string[]) =>
      runInMemory(['status', ...args], '', { cwd: folder.path });
    const running = await status();
    expect(running.stderr).toBe('');
    expect(running.code).toBe(0);
    expect(running.stdout.trimEnd().split('\n')).toEqual([
      expect.stringMatching(new RegExp(`^ready, since \\S+Z, at ${url}$`)),
      'accounts: telegram/default, slack/acme (not started: invalid_auth)',
      'now: 2 messages, 1 turn',
      'look at: dead-letters: 1 time',
      ...found,
    ]);
    const [data] = jsonLines<object>((await status('--json')).stdout);
    expect(data).not.toHaveProperty('kernel'); // figures of the inside are not for programs
    expect(data).toMatchObject({
      ...{ from: 'host', url, ...told, updates: { accepted: 2, dead: 1 } },
      lanes: [{ waiting: 2 }],
      ...{ failed: [{ eventId: 'u-3' }], unsent: [{ sendId: 's-1' }], questions: [{ id: 'q-1' }] },
      budget: [{ key: `${today}/total`, name: 'all', used: { tokens: 1200, microUsd: 20_000 } }],
    });
    Object.assign(told, { ready: false, state: 'stopping' });
    const stopping = await status('--no-config', '--running', url);
    expect([stopping.code, stopping.stdout]).toEqual([
      1,
      expect.stringMatching(/^not ready: it is stopping, since /),
    ]);
    server.closeAllConnections();
    await once(server.close(), 'close');
    const away = await status();
    expect([away.code, away.stdout.trimEnd().split('\n')]).toEqual([
      1,
      [expect.stringMatching(/^away: http:\S+: .*ECONNREFUSED.* from .*sluice\.db$/), ...found],
    ]);
    const [journal] = jsonLines<object>((await status('--json')).stdout);
    expect(journal).toMatchObject({ from: 'journal', ready: false, updates: { dead: 1 } });
  });

  it('says why no host answers, also without a journal, and when another program does', async () => {
    const away = await runInMemory(['status', '--no-config', '--running', 'http://127.0.0.1:1']);
    const reason = /^away: http:\/\/127\.0\.0\.1:1: .+\. No journal is named\n$/;
    expect([away.code, away.stdout]).toEqual([1, expect.stringMatching(reason)]);
    for (const text of ['{}', '<p>hello</p>']) {
      const server = createServer((_, response) => void response.end(text));
      await once(server.listen(0, '127.0.0.1'), 'listening');
      const { port } = server.address() as AddressInfo; // it listens at a port
      const url = `http://127.0.0.1:${port}`;
      const other = await runInMemory(['status', '--no-config', '--running', url]);
      const what = 'what answers there is no health port of a host of this version';
      expect([other.code, other.stdout]).toEqual([
        1,
        `away: ${url}: ${what}. No journal is named\n`,
      ]);
      server.closeAllConnections();
      await once(server.close(), 'close');
    }
  });

  it('says what it needs if it is told of neither a host nor a journal', async () => {
    const { code, stderr } = await runInMemory(['status', '--no-config']);
    expect([code, stderr]).toEqual([2, expect.stringContaining('no journal is named')]);
  });
});
