import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { openJournal } from '../../../src/host/index.js';
import { compiled } from '../../support/compiled.js';
import { temporaryFolder } from '../../support/temporary-folder.js';

const program = await compiled(
  fileURLToPath(new URL('../fixtures/approval-host.ts', import.meta.url)),
);
const rounds = Number(process.env['ACTS_RUNS'] ?? 5);

/** The buttons of a question. */
interface Buttons {
  readonly allow: string;
  readonly deny: string;
}

/** A life of a host: what its parent does when it is ready, when it asks, and when nothing is left to do. */
interface Life {
  readonly ready: (child: ChildProcess) => void;
  readonly asked: (child: ChildProcess, buttons: Buttons) => void;
  readonly idle?: (child: ChildProcess) => void;
}

/** Starts a host, and lets a test talk to it until it has killed it. */
async function live(path: string, file: string, life: Life): Promise<void> {
  const child = fork(program, [path, file], {
    execArgv: [],
    env: { PATH: process.env['PATH'] ?? '' },
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  child.on('message', (told: Partial<Buttons> & { ready?: true; idle?: true }) => {
    const { allow, deny, ready, idle } = told;
    if (ready === true) life.ready(child);
    if (allow !== undefined && deny !== undefined) life.asked(child, { allow, deny });
    if (idle === true) life.idle?.(child);
  });
  const [, signal] = await once(child, 'exit');
  expect(signal).toBe('SIGKILL'); // it did not end by itself
}

/** Reads the states of the questions, and the ends of the messages. */
async function read(path: string) {
  const journal = await openJournal(path);
  try {
    const rows = await journal.keyValues.list('/approvals/asked', { prefix: '', limit: 100 });
    const updates = await journal.updates({ limit: 10_000 });
    return { states: rows.map(({ body }) => JSON.parse(body).state as string), updates };
  } finally {
    await journal.close();
  }
}

const linesOf = (file: string): number =>
  existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n').filter(Boolean).length : 0;

it.each(Array.from({ length: rounds }, (_, round) => round))(
  'a host that is killed between question and answer runs no tool without an answer, and none twice for one: round %i (judgement §4.14, judgement §4.21)',
  async (round) => {
    using folder = temporaryFolder();
    const path = join(folder.path, 'sluice.db');
    const file = join(folder.path, 'ran.txt');
    const answer = round % 5 === 3 ? 'deny' : 'allow';
    const isAnswered = round % 5 !== 0; // it is killed while it takes the answer
    const questions = new Set<string>();
    const press = (child: ChildProcess, buttons: Buttons): void => {
      questions.add(buttons.allow);
      const name = buttons[answer];
      child.send({ text: '', press: name, id: name }, () => undefined); // it may be dead already
    };
    let first: Buttons | undefined;
    await live(path, file, {
      ready: (child) => void child.send({ text: 'v1', id: 'v1' }),
      asked: (child, buttons) => {
        first = buttons;
        if (isAnswered) press(child, buttons);
        setTimeout(() => child.kill('SIGKILL'), (round * 7) % 40);
      },
    });
    const { states } = await read(path);
    const ranBefore = linesOf(file);
    expect(states.length).toBeLessThanOrEqual(1);
    const [state = 'gone'] = states;
    // `used` is on the disk before the tool runs
    if (state !== 'used' && state !== 'gone') expect(ranBefore).toBe(0);
    await live(path, file, {
      // the provider brings again what it has brought
      ready: (child) => {
        child.send({ text: 'v1', id: 'v1' });
        if (first !== undefined) press(child, first);
      },
      asked: press,
      idle: (child) => void child.kill('SIGKILL'),
    });
    const { states: left, updates } = await read(path);
    expect(left).toEqual([]);
    expect(updates.filter(({ state: end }) => end !== 'ended')).toEqual([]);
    expect(updates.find(({ updateId }) => updateId === 'v1')?.outcome).toBe('answered');
    const ran = linesOf(file);
    if (answer === 'deny') expect(ran).toBe(0);
    else {
      expect(ran).toBeGreaterThanOrEqual(1);
      expect(ran).toBeLessThanOrEqual(questions.size); // each answer was good for one
    }
    // only a call that may have run, and whose result was not recorded, is asked anew
    expect(questions.size).toBeLessThanOrEqual(state === 'used' ? 2 : 1);
  },
  60_000,
);
