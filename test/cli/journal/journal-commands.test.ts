import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { dispatchTap } from '../../../src/host/timeline/dispatch-tap.js';
import { openJournal } from '../../../src/journal/index.js';
import { cancel, createKernel } from '../../../src/kernel/internal.js';
import { samplePayload } from '../../../src/testing/index.js';
import { type TemporaryFolder, temporaryFolder } from '../../support/temporary-folder.js';
import { jsonLines, runCli } from '../cli.js';
import { runInMemory } from '../memory-shell.js';

const night = `export default { kind: 'sluice-extension', id: 'night', config: undefined, setup(api) {
  api.veto('egress.preparing', 'all', ({ payload }) => ({ kind: 'cancel', code: 'quiet-hours' }));
  api.observe('egress.preparing', 'tells', { priority: 1 }, () => { console.error('OBSERVED'); });
} };`;

/** Tries every way out of the process: what it gets is told by how it decides. */
const outgoing = `
import { connect } from 'node:net';
import { writeFileSync, promises } from 'node:fs';
import { spawnSync } from 'node:child_process';
import dns from 'node:dns/promises';
import { Worker } from 'node:worker_threads';
const ways = {
  fetch: () => fetch('http://127.0.0.1:9/'),
  connect: () => connect(9, '127.0.0.1'),
  write: () => writeFileSync('written.txt', 'x'),
  append: () => promises.appendFile('written.txt', 'x'),
  open: () => promises.open('written.txt', 'w'),
  spawn: () => spawnSync('true'),
  lookup: () => dns.lookup('localhost'),
  thread: () => new Worker('0', { eval: true }),
};
export default { kind: 'sluice-extension', id: 'outgoing', config: undefined, setup(api) {
  for (const [name, go] of Object.entries(ways))
    api.veto('egress.preparing', name, async () => { await go(); return { kind: 'cancel', code: 'policy' }; });
} };`;

describe('the commands on a journal', () => {
  let folder: TemporaryFolder;
  const ids: string[] = [];

  beforeAll(async () => {
    folder = temporaryFolder({
      'night.mjs': night,
      'outgoing.mjs': outgoing,
      'text.db': 'no database',
      'five.json': JSON.stringify({ ...samplePayload('egress.preparing'), content: 5 }),
    });
    const journal = await openJournal(join(folder.path, 'sluice.db'));
    const kernel = createKernel({ trace: true, tap: dispatchTap(journal) });
    kernel.contribute({
      family: 'egress.preparing',
      class: 'mutator',
      extensionId: 'acme',
      id: 'sign',
      timeoutMs: 700,
      handler: ({ payload }) => ({ content: `${payload.content}!` }),
    });
    kernel.contribute({
      family: 'egress.preparing',
      class: 'veto',
      extensionId: 'acme',
      id: 'no',
      handler: ({ payload }) =>
        payload.content.startsWith('no') ? cancel('policy', { text: 'it says no' }) : undefined,
    });
    const normalized = await kernel.dispatch(
      'ingress.normalized',
      samplePayload('ingress.normalized'),
    );
    ids.push(normalized.event.eventId);
    for (const content of ['yes', 'no']) {
      const outcome = await kernel.dispatch(
        'egress.preparing',
        { ...samplePayload('egress.preparing'), content, explicit: true },
        { after: normalized },
      );
      ids.push(outcome.event.eventId);
    }
    await kernel.close();
    await journal.close();
    return () => folder[Symbol.dispose]();
  });

  const inFolder = (args: readonly string[]) =>
    runInMemory([...args, '--journal', 'sluice.db'], '', { cwd: folder.path });

  it('sluice explain says who did what in one dispatch (§20.6)', async () => {
    const { code, stdout, stderr } = await inFolder(['explain', ids[2] ?? '']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toContain('egress.preparing cancelled by acme/no: policy, "it says no"');
    expect(stdout).toMatch(/acme\/sign {2}mutator .*of 700 ms, its own/);
    expect(stdout).toContain('budget: ');
    expect(stdout).toContain('One of 3 dispatches of message');
  });

  it('sluice explain --way tells of all that belongs to a message, by any of its ids', async () => {
    for (const id of ids) {
      const { stdout } = await inFolder(['explain', id, '--way', '--json']);
      const families = jsonLines<{ event: { family: string } }>(stdout).map(
        ({ event }) => event.family,
      );
      expect(families).toEqual(['ingress.normalized', 'egress.preparing', 'egress.preparing']);
    }
  });

  it.each([
    [
      ['explain', 'nobody', '--journal', 'sluice.db'],
      1,
      'unknown-event: the journal has no dispatch of "nobody"',
    ],
    [['explain', 'x'], 2, 'no journal is named'],
    [['explain', 'x', '--journal', 'none.db'], 2, 'missing-file: there is no journal'],
    [['explain', 'x', '--journal', 'text.db'], 1, 'sluice: '],
    [['journal', 'list', '--journal', 'none.db'], 2, 'missing-file: there is no journal'],
    [['journal', 'show', 'x', '--journal', '.'], 2, 'it is a folder'],
    [['journal', 'list', '--journal', 'x'.repeat(300)], 2, 'unreadable-file: '],
    [['journal', 'purge', '--all', '--journal', 'none.db'], 2, 'missing-file: there is no journal'],
    [['replay'], 2, 'name recordings, or a journal by --journal, and not both'],
    [['replay', 'a.jsonl', '--journal', 'sluice.db'], 2, 'and not both'],
  ])('%j is refused in one line', async (args, code, expected) => {
    const ended = await runInMemory(args, '', { cwd: folder.path });
    expect(ended.code).toBe(code);
    expect(ended.stderr).toContain(expected);
    expect(ended.stderr.trimEnd()).not.toContain('\n');
  });

  const replay = (args: readonly string[]) =>
    runCli(['replay', '--journal', 'sluice.db', ...args], '', { cwd: folder.path });

  it('sluice replay --journal prints what would differ with the extensions of today, twice the same (fault 36)', async () => {
    const first = await replay(['--extension', './night.mjs']);
    expect(first.code).toBe(1);
    expect(first.stderr).not.toContain('OBSERVED');
    expect(first.stdout).toContain('was passed, would be cancelled by night/all: quiet-hours');
    expect(first.stdout).toContain('was: content changed by acme/sign; would not be');
    expect(first.stdout).toContain('3 dispatches replayed, 2 would differ');
    expect(await replay(['--extension', './night.mjs'])).toEqual(first);
  });

  it.each([
    [['--family', 'egress.preparin'], 2, 'there is no family "egress.preparin"'],
    [['--family', 'egress.preparing', '--last', '0'], 2, '--last is "0". Write a number from 1'],
    [['--last', '3'], 2, '--last counts dispatches of a --family'],
    [['--event', 'nobody'], 1, 'unknown-event: the journal has no dispatch of "nobody"'],
    [['--payload', 'edited.json'], 2, '--payload belongs to one dispatch'],
  ])('sluice replay --journal %j is refused in one line', async (args, code, expected) => {
    const ended = await replay(args);
    expect([ended.code, ended.stdout]).toEqual([code, '']);
    expect(ended.stderr).toContain(expected);
    expect(ended.stderr.trimEnd()).not.toContain('\n');
  });

  it('sluice replay --payload says why a payload cannot be dispatched', async () => {
    const tried = async (payload: string) => {
      const { code, stdout, stderr } = await replay([
        '--event',
        ids[1] ?? '',
        '--payload',
        payload,
      ]);
      return [code, stdout, stderr];
    };
    const told = (text: string) => [2, '', expect.stringContaining(text)];
    expect(await tried('none.json')).toEqual(told('missing-file: there is no file "none.json"'));
    expect(await tried('text.db')).toEqual(told('the payload is no object in JSON'));
    expect(await tried('five.json')).toEqual(
      told('The payload of "egress.preparing" is wrong at /content: must be string'),
    );
  });

  it('calls observers where they are asked for', async () => {
    const { stderr } = await replay([
      '--extension',
      './night.mjs',
      '--observers',
      '--event',
      ids[1] ?? '',
    ]);
    expect(stderr).toContain('OBSERVED');
  });

  it('does no I/O: an extension that tries any is stopped, and named (fault 48)', async () => {
    const { stdout, stderr } = await replay(['--extension', './outgoing.mjs', '--json']);
    expect(stdout).not.toContain('"is":"cancelled"');
    for (const attempt of [
      'network: connect',
      'network: lookup',
      'file writes: writeFileSync',
      'file writes: appendFile',
      'file writes: open',
      'other processes: spawnSync',
      'other threads: Worker',
    ])
      expect(stderr).toContain(attempt);
    expect(stderr).toContain('--allow-io lets them');
  });
});
