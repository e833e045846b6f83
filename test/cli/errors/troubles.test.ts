import { spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openJournal } from '../../../src/journal/index.js';
import { testFolder } from '../../support/folder.js';
import { CliProcess, type Ended, fixture, root, runCli } from '../cli.js';

/** An answer of a command to a trouble: the code of its error, or that it does its work all the same. */
type Answer = string | null;

interface Row {
  readonly args: string;
  /** Its config, its journal or its input is missing. */
  readonly missing: Answer;
  /** A host has the journal; absent if it uses none. */
  readonly locked?: Answer;
  /** Nothing more can be written where it works; absent if it writes nothing. */
  readonly full?: Answer;
  /** Arguments with which it works for a while, if its config is not what it waits for; `null` if it never waits. */
  readonly slow?: string | null;
}

const none = 'missing-file';
const full = 'database-(full|io)'; // which of them, depends on the write that comes first
const beside = { missing: none, locked: 'bad-arguments', full } as const; // there is no such message

/** Each command, and each action of one that has some, with what is wrong about its surroundings. `{x}` is named by the test. */
const rows: Readonly<Record<string, Row>> = {
  run: { args: 'run -c {config}', missing: none, locked: 'journal-in-use', full },
  stages: { args: 'stages -c {config}', missing: none },
  replay: { args: 'replay {input}', missing: none, slow: 'replay - --json' },
  explain: { args: 'explain x -j {journal}', missing: none, locked: 'unknown-event' },
  normalize: { args: 'normalize {input}', missing: none, slow: 'normalize -' },
  'check-plugin': { args: 'check-plugin {input}', missing: none },
  'plugin list': { args: 'plugin list -c {config}', missing: none },
  'plugin add': { args: 'plugin add {input}', missing: none },
  'plugin remove': { args: 'plugin remove x -c {config}', missing: none },
  'plugin run': { args: 'plugin run -c {config} x', missing: none },
  'plugin call': { args: 'plugin call x -c {config}', missing: none },
  'plugin check': { args: 'plugin check {input}', missing: none },
  migrate: { args: 'migrate {input} --out {out}', missing: none },
  'import openclaw': {
    args: 'import openclaw {input} --out {out}',
    missing: none,
    full: 'unwritable-file',
    slow: null, // its own test has it
  },
  doctor: { args: 'doctor -c {config}', missing: null, locked: null },
  init: { args: 'init {out}', missing: null, full: 'unwritable-file', slow: null },
  'journal list': { args: 'journal list -j {journal}', missing: none, locked: null },
  'journal show': { args: 'journal show x -j {journal}', missing: none, locked: 'bad-arguments' },
  'journal retry': { args: 'journal retry x -j {journal}', ...beside },
  'journal purge': { args: 'journal purge --all -j {journal}', ...beside, locked: null },
  'journal compact': {
    args: 'journal compact {journal}',
    missing: none,
    locked: 'journal-in-use',
    full,
    slow: 'journal compact -c {config}',
  },
  'journal repair': {
    args: 'journal repair -j {journal}',
    missing: none,
    locked: 'journal-in-use',
    full,
  },
  'journal backup': { args: 'journal backup {out} -j {journal}', missing: none },
  'journal restore': {
    args: 'journal restore {input} -j {journal}',
    missing: none,
    slow: 'journal restore ./p.yaml -c {config}',
  },
  'journal forget': {
    args: 'journal forget --sender x -j {journal}',
    missing: none,
    locked: 'journal-in-use',
  },
  status: { args: 'status -c {config}', missing: none },
  'journal migrate': { args: 'journal migrate -j {journal}', missing: none },
  hosts: { args: 'hosts -c {config}', missing: none },
  events: { args: 'events -j {journal}', missing: none, locked: null },
  inspect: { args: 'inspect -j {journal}', missing: none },
  'store list': { args: 'store list -j {journal}', missing: none, locked: null },
  'store get': { args: 'store get x y -j {journal}', missing: none, locked: 'bad-arguments' },
  'store delete': { args: 'store delete x y -j {journal}', ...beside },
  'store clear': { args: 'store clear x -j {journal}', ...beside },
  'approvals list': { args: 'approvals list -j {journal}', ...beside, locked: null },
  'approvals show': { args: 'approvals show x -j {journal}', ...beside },
  'approvals approve': { args: 'approvals approve x -j {journal}', ...beside },
  'approvals deny': { args: 'approvals deny x -j {journal}', ...beside },
  'approvals revoke': { args: 'approvals revoke x -j {journal}', ...beside },
  'record checkpoint': {
    args: 'record checkpoint -j {journal}',
    missing: none,
    locked: 'bad-arguments',
  },
  'record rotate': {
    args: 'record rotate -j {journal} --key {input}',
    missing: none,
    slow: 'record rotate -c {config}',
  },
  'record export': { args: 'record export -j {journal}', missing: none, locked: null },
  verify: { args: 'verify {input}', missing: none, slow: 'verify -c {config}' },
  'guard init': { args: 'guard init --agent claude', missing: null, slow: null },
  'guard remove': { args: 'guard remove --config {config}', missing: null, slow: null },
  'guard doctor': { args: 'guard doctor --config {config}', missing: null, slow: null },
  'guard run': { args: 'guard run --config {config}', missing: none, slow: null }, // it says how to stop it
  'guard mcp': { args: 'guard mcp', missing: 'bad-arguments', slow: null }, // it names no server
  'policy test': { args: 'policy test {input}', missing: none, slow: null },
  'policy try': {
    args: 'policy try {input} -j {journal}',
    missing: none,
    slow: 'policy try ./p.yaml -c {config}',
  },
};

/** A folder with a config, a journal that a host has used, and the packages that commands look for. */
async function surroundings() {
  const cwd = testFolder();
  const journal = join(cwd, 'j.db');
  writeFileSync(
    join(cwd, 'sluice.config.json'),
    JSON.stringify({ journal: { path: journal }, channels: ['console'] }),
  );
  mkdirSync(join(cwd, 'openclaw'));
  writeFileSync(join(cwd, 'openclaw/openclaw.json'), '{"agents":{"list":[{"id":"main"}]}}');
  mkdirSync(join(cwd, 'node_modules'));
  for (const name of ['policies', 'import-openclaw', 'inspector', 'guard'])
    symlinkSync(join(root, 'extensions', name), join(cwd, 'node_modules', `sluice-${name}`));
  symlinkSync(root, join(cwd, 'node_modules/sluice'));
  await (await openJournal(journal)).close();
  return { cwd, journal };
}

const filled = (args: string, values: Readonly<Record<string, string>>) =>
  args
    .split(' ')
    .map((word) => word.replace(/^\{(\w+)\}$/, (_, name: string) => values[name] ?? ''));

/** An error is one line: its code, the mistake and the cure, and nothing of a stack. */
function expectOneLine({ code, stderr, stdout }: Ended, answer: Answer, args: string): void {
  const lines = stderr.split('\n').filter((line) => line !== '');
  if (answer === null) {
    expect(lines, args).toEqual([]);
    expect(stdout, args).not.toContain('    at ');
    return;
  }
  expect(lines, args).toEqual([expect.stringMatching(new RegExp(`^sluice: ${answer}: .+\\. .+`))]);
  expect([1, 2], args).toContain(code);
}

/** Runs some command lines, a few at a time. */
async function each(names: readonly string[], run: (row: Row) => Promise<void>): Promise<void> {
  const left = names.flatMap((name) => rows[name] ?? []);
  const next = async (): Promise<void> => {
    for (let row = left.shift(); row !== undefined; row = left.shift()) await run(row);
  };
  await Promise.all([next(), next(), next()]);
}

const having = (key: 'locked' | 'full') =>
  Object.keys(rows).filter((name) => rows[name]?.[key] !== undefined);

/** The files of a folder with their bytes, but for what the databases of SQLite have beside them. No link is followed. */
const filesIn = (folder: string): (readonly [path: string, bytes: string])[] =>
  readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return filesIn(path);
    if (!entry.isFile() || /-(wal|shm|lock)$/.test(entry.name)) return [];
    return [[path, readFileSync(path, 'base64')]];
  });

/** Runs a program in a small disk of its own, if a user may have one here. */
const onSmallDisk = (folder: string, script: string) =>
  spawnSync(
    'unshare',
    ['-rm', 'sh', '-c', `mount -t tmpfs -o size=900k none ${folder} && ${script}`],
    {
      encoding: 'utf8',
    },
  );

describe('each command', { timeout: 240_000 }, () => {
  it('has its troubles here, and so has each of its actions', async () => {
    const helpOf = async (...args: string[]) => {
      const { stdout } = await runCli([...args, '--help']);
      const [, list = ''] = stdout.split(/^Commands:\n/m);
      const names = (list.split('\n\n')[0] ?? '').matchAll(/^ {2}([a-z-]+)/gm);
      return Array.from(names, ([, name = '']) => name).filter((name) => name !== 'help');
    };
    const commands = await helpOf();
    const all = await Promise.all(
      commands.map(async (name) => {
        const actions = await helpOf(name);
        return actions.length === 0 ? [name] : actions.map((action) => `${name} ${action}`);
      }),
    );
    expect(Object.keys(rows).toSorted()).toEqual(all.flat().toSorted());
  });

  it('says in one line which file is missing, and what to do (§20.14)', async () => {
    const own = await surroundings();
    const gone = join(own.cwd, 'gone');
    const values = {
      config: 'gone.json',
      journal: gone,
      input: './gone',
      out: join(own.cwd, 'out'),
    };
    await each(Object.keys(rows), async ({ args, missing }) => {
      expectOneLine(await runCli(filled(args, values), '', { cwd: own.cwd }), missing, args);
    });
    expect(existsSync(gone)).toBe(false);
  });

  it('says in one line that a host has the journal, or works beside it (§20.14)', async () => {
    const own = await surroundings();
    const journal = await openJournal(own.journal);
    const values = { config: 'sluice.config.json', journal: own.journal };
    await each(having('locked'), async ({ args, locked = null }) => {
      expectOneLine(await runCli(filled(args, values), '', { cwd: own.cwd }), locked, args);
    });
    expect(await journal.updates()).toEqual([]);
    await journal.close();
  });

  it('ends by Ctrl-C with one line while it works, and leaves all as it was (§20.15)', async () => {
    const own = await surroundings();
    const wait =
      "console.error('it works'); setInterval(() => {}, 1_000); await new Promise(() => {});";
    writeFileSync(join(own.cwd, 'slow.mjs'), wait);
    mkdirSync(join(own.cwd, 'slow'));
    writeFileSync(join(own.cwd, 'slow/openclaw.plugin.json'), '{"id":"slow","configSchema":{}}');
    writeFileSync(
      join(own.cwd, 'slow/package.json'),
      '{"openclaw":{"extensions":["./index.mjs"]}}',
    );
    writeFileSync(join(own.cwd, 'slow/index.mjs'), wait);
    writeFileSync(join(own.cwd, 'p.yaml'), '[]');
    const [first, second] = readFileSync(fixture('recording.jsonl'), 'utf8').split('\n');
    const begun = `${first}\n${second}\n`;
    const before = filesIn(own.cwd);
    await each(
      Object.keys(rows),
      async ({ args, slow = args.replace('-j {journal}', '-c {config}') }) => {
        if (slow === null) return;
        const values = { config: 'slow.mjs', input: './slow', out: 'new' };
        const cli = new CliProcess(filled(slow, values), { cwd: own.cwd, env: { HOME: own.cwd } });
        if (/ -( |$)/.test(slow)) cli.child.stdin.write(begun); // a recording that goes on
        await cli.until(/ -( |$)/.test(slow) ? '{"' : 'it works');
        cli.child.kill('SIGINT');
        const { stderr, ...ended } = await cli.ended;
        const told = stderr.replace(/^.*it works\n/m, '');
        expectOneLine({ ...ended, stderr: told }, 'interrupted', slow);
        expect(told, slow).toContain('SIGINT has stopped it');
        expect(ended.code, slow).toBe(1);
      },
    );
    expect(filesIn(own.cwd)).toEqual(before);
  });

  const hasDisk = onSmallDisk('/mnt', 'true').status === 0;

  it.skipIf(!hasDisk)(
    'says in one line that the disk is full, and loses nothing (§20.14)',
    async () => {
      const own = await surroundings();
      const { cwd } = own;
      const values = {
        config: 'c.json',
        journal: 'j.db',
        input: join(cwd, 'openclaw'),
        out: 'new',
      };
      const program = `${process.execPath} ${join(root, 'dist/cli/main.js')}`;
      for (const name of having('full')) {
        const { args = '', full: answer = null } = rows[name] ?? {};
        const lines = [
          `cp ${own.journal} j.db && echo '{"journal":{"path":"./j.db"},"channels":["console"]}' > c.json`,
          `ln -s ${join(cwd, 'node_modules')} node_modules && (cat /dev/zero > fill 2> ${cwd}/fill; true)`,
          `${program} ${filled(args, values).join(' ')}; echo "ended $?"; cmp j.db ${own.journal}; ls`,
        ];
        const disk = join(cwd, 'disk');
        mkdirSync(disk, { recursive: true });
        const { stdout, stderr } = onSmallDisk(disk, `cd ${disk} && ${lines.join(' && ')}`);
        const [, code] = /ended (\d+)/.exec(stdout) ?? [];
        expectOneLine({ code: Number(code), stderr, stdout }, answer, args);
        expect(stdout, args).not.toContain('differ');
        expect(stdout, args).not.toContain('.sluice-import-');
      }
    },
  );

  it.each([
    ['import openclaw openclaw --out FILE', 'unreadable-file'],
    ['import openclaw openclaw --out FILE/new', 'unwritable-file'],
    ['init FILE', 'unwritable-file'],
    ['init FILE/new', 'unwritable-file'],
  ])(
    'says in one line that a file is where a folder has to be: %s (§20.14)',
    async (args, code) => {
      const own = await surroundings();
      writeFileSync(join(own.cwd, 'FILE'), 'mine');
      expectOneLine(await runCli(args.split(' '), '', { cwd: own.cwd }), code, args);
      expect(readFileSync(join(own.cwd, 'FILE'), 'utf8')).toBe('mine');
    },
  );
});
