import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Journal, openJournal } from '../../../src/journal/index.js';
import { anUpdate, aSend } from '../../journal/journal-contract.js';
import { fence, fenceOf } from '../../support/fences.js';
import { testFolder } from '../../support/folder.js';
import { fixture, jsonLines } from '../cli.js';
import { runInMemory } from '../memory-shell.js';

/** A journal with one message that was answered, and one dead letter. */
async function filled(more?: (journal: Journal) => Promise<void>): Promise<string> {
  const path = join(testFolder(), 'sluice.db');
  const journal = await openJournal(path);
  for (const id of ['u-good', 'u-bad']) {
    await journal.accept(anUpdate(id));
    await journal.begin(id);
    await journal.prepare(fence, aSend(`${id}.1`, { correlationId: id, accountId: 'default' }));
  }
  await journal.endSend(fence, 'u-good.1', { state: 'sent', providerMessageId: '7' });
  await journal.endUpdate(fenceOf('u-good'), { isDead: false, outcome: 'answered' });
  await journal.endSend(fence, 'u-bad.1', {
    state: 'failed',
    cause: 'rejected',
    reason: 'blocked\u001b[2J',
  });
  await journal.endUpdate(fenceOf('u-bad'), { isDead: true, outcome: 'failed', reason: 'blocked' });
  await more?.(journal);
  await journal.close();
  return path;
}

const sluice = (...args: string[]) => runInMemory(['journal', ...args]);

describe('sluice journal', () => {
  it('lists what came in, oldest first, with its end and the reason', async () => {
    const path = await filled();
    const { code, stdout, stderr } = await sluice('list', '--journal', path);
    expect([code, stderr]).toEqual([0, '']);
    const [good, bad, ...others] = stdout.trim().split('\n');
    expect(good).toMatch(/^20\d\d-.*Z {2}u-good {2}scripted\/default {2}answered$/);
    expect(bad).toMatch(/ {2}u-bad {2}scripted\/default {2}dead: blocked$/);
    expect(others).toEqual([]);
  });

  it('lists by state, by time and by number, and as JSON', async () => {
    const path = await filled();
    const list = async (...args: string[]) => {
      const { stdout } = await sluice('list', '--json', '--journal', path, ...args);
      if (stdout === '') return [];
      return jsonLines<{ eventId: string }>(stdout).map(({ eventId }) => eventId);
    };
    expect(await list('--state', 'dead')).toEqual(['u-bad']);
    expect(await list('--since', '1h')).toEqual(['u-good', 'u-bad']);
    expect(await list('--since', '2999-01-01')).toEqual([]);
    expect(await list('--limit', '1')).toEqual(['u-good']);
  });

  it('lists sends, and prints no control character that came from outside', async () => {
    const path = await filled();
    const { stdout } = await sluice('list', '--sends', '--journal', path);
    expect(stdout).toMatch(/u-good\.1 {2}scripted\/default {2}reply sent$/m);
    expect(stdout).toMatch(/u-bad\.1 {2}scripted\/default {2}reply failed \(rejected\): blocked/m);
    expect(stdout).not.toContain('\u001b');
  });

  it('shows one message with its body, its sends and its stages', async () => {
    const path = await filled();
    const { stdout } = await sluice('show', 'u-bad', '--journal', path);
    expect(stdout).toMatch(/u-bad .*dead: blocked\n {2}body: \{"text":"hi"\}\n {2}.*u-bad\.1/);
    const json = await sluice('show', 'u-bad', '--json', '--journal', path);
    expect(jsonLines(json.stdout)).toMatchObject([
      { eventId: 'u-bad', state: 'dead', sends: [{ sendId: 'u-bad.1' }], dispatches: [] },
    ]);
  });

  it('shows which sends are of the time before a message was tried again (durability §7.6)', async () => {
    const path = await filled(async (journal) => {
      await journal.retry('u-bad');
      await journal.begin('u-bad');
      await journal.prepare(fence, aSend('u-bad.2', { correlationId: 'u-bad' }));
    });
    const { stdout } = await sluice('show', 'u-bad', '--journal', path);
    expect(stdout).toMatch(/handling\n.*body.*\n.*u-bad\.1 .*\n {2}tried again .*\n.*u-bad\.2 /);
    const json = await sluice('show', 'u-bad', '--json', '--journal', path);
    expect(jsonLines(json.stdout)).toMatchObject([{ retriedAfterSeq: 2 }]);
  });

  it('has a dead letter tried again, or dropped, also while a host runs (durability §7.6)', async () => {
    const path = await filled();
    const host = await openJournal(path);
    expect(await sluice('retry', 'u-bad', '--journal', path)).toMatchObject({
      code: 0,
      stdout: 'u-bad will be handled again\n',
    });
    expect(host.changedOutside()).toBe(true);
    expect((await host.updates({ states: ['accepted'] })).map(({ eventId }) => eventId)).toEqual([
      'u-bad',
    ]);
    await host.begin('u-bad');
    await host.endUpdate(fenceOf('u-bad'), { isDead: true, outcome: 'failed' });
    await host.close();
    expect((await sluice('purge', '--all', '--journal', path)).stdout).toBe(
      '1 dead letter is dropped\n',
    );
    expect((await sluice('list', '--state', 'dead', '--journal', path)).stdout).toBe('');
  });

  it.each<[string, string[], RegExp]>([
    ['an unknown action', ['lst'], /bad-arguments: there is no action "lst"/],
    ['no id', ['show'], /missing required argument 'id'/],
    ['an unknown id', ['show', 'u-none'], /the journal has no message u-none/],
    ['one that is no dead letter', ['retry', 'u-good'], /u-good is no dead letter: it is ended/],
    ['a wrong time', ['list', '--since', 'yesterday'], /--since is "yesterday".*Write 30m/],
    ['a wrong number', ['list', '--limit', 'many'], /--limit is "many"/],
    ['a wrong state', ['list', '--state', 'gone'], /bad-arguments: .*gone/],
  ])('refuses %s in one line that says what to do', async (_, args, message) => {
    const path = await filled();
    const { code, stdout, stderr } = await sluice(...args, '--journal', path);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toMatch(message);
    expect(stderr.trim().split('\n')).toHaveLength(1);
  });

  it('names a file that is not there or no journal, and makes none', async () => {
    const none = join(testFolder(), 'none.db');
    for (const action of [['list'], ['retry', 'x']])
      expect(await sluice(...action, '--journal', none)).toMatchObject({
        code: 2,
        stderr: expect.stringMatching(/^sluice: missing-file: /),
      });
    expect(await sluice('list', '--journal', fixture('recording.jsonl'))).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^sluice: database-damaged: /),
    });
    expect((await sluice('list', '--no-config')).stderr).toMatch(/no journal is named/);
  });

  it('says how it is used', async () => {
    const { code, stdout } = await sluice('--help');
    expect(code).toBe(0);
    expect(stdout).toMatch(/\$ sluice journal retry u-/);
  });
});

describe('sluice run --journal', () => {
  it('keeps what came in, what went out and what was dispatched', async () => {
    const path = join(testFolder(), 'sluice.db');
    const run = (text: string) =>
      runInMemory(['run', '--quiet', '--no-config', '--journal', path], text);
    expect(await run('hello\n')).toMatchObject({ code: 0, stdout: 'hello\n' });
    expect(await run('again\n')).toMatchObject({ code: 0, stdout: 'again\n' });
    const { stdout } = await sluice('list', '--json', '--journal', path);
    const [first, second] = jsonLines<{ eventId: string }>(stdout);
    expect([first, second]).toMatchObject([
      { state: 'ended', outcome: 'answered' },
      { state: 'ended', outcome: 'answered' },
    ]);
    const shown = await sluice('show', first?.eventId ?? '', '--json', '--journal', path);
    const [message] = jsonLines<{ sends: unknown; dispatches: { family: string }[] }>(shown.stdout);
    expect(message?.sends).toMatchObject([{ state: 'sent', kind: 'reply' }]);
    expect(message?.dispatches.map(({ family }) => family)).toEqual(
      expect.arrayContaining(['ingress.received', 'egress.preparing', 'egress.sent']),
    );
  });

  it('refuses a journal that another host uses', async () => {
    const path = join(testFolder(), 'sluice.db');
    const other = await openJournal(path);
    expect(await runInMemory(['run', '--no-config', '--journal', path], '')).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^sluice: journal-in-use: /),
    });
    await other.close();
  });
});
