import { fork } from 'node:child_process';
import { once } from 'node:events';
import { pathToFileURL } from 'node:url';
import { type Journal, readJournal } from '../../src/journal/index.js';

/** Says that a host has come to a point of its work. */
export type Reached = (point: string) => void;

/** Tells of each write to the key-values of a journal when it is on the disk. `body` is absent if the row was removed. */
export function watchWrites(
  journal: Journal,
  onWritten: (namespace: string, body: string | undefined) => void,
): void {
  const { keyValues } = journal;
  const write: typeof keyValues.write = async (namespace, key, value, given) => {
    const result = await keyValues.write(namespace, key, value, given);
    if (result.status === 'written') onWritten(namespace, value?.body);
    return result;
  };
  Object.defineProperty(journal, 'keyValues', { value: { ...keyValues, write } });
}

/**
 * Has a process die by SIGKILL at a point, by its arguments: PROGRAM JOURNAL FILE POINT there|after. `there` kills it before its
 * next step. `after` tells its parent, which kills it while it goes on.
 */
export function dying([, , path = '', file = '', at, how]: readonly string[]) {
  const reached: Reached = (point) => {
    if (point !== at) return;
    if (how === 'there') process.kill(process.pid, 'SIGKILL');
    process.send?.(point);
  };
  setInterval(() => undefined, 1_000); // it lives until it is killed
  return { path, file, reached };
}

/** Returns whether a module is what Node was started with. */
export function isProgram(url: string): boolean {
  return process.argv[1] !== undefined && pathToFileURL(process.argv[1]).href === url;
}

/** Starts a host that dies at a point, as `dying` says, and waits until it is dead. */
export async function killedAt(
  program: string,
  ...args: readonly [path: string, file: string, at: string, how: 'there' | 'after']
): Promise<void> {
  const child = fork(program, args, {
    execArgv: [],
    env: { PATH: process.env['PATH'] ?? '' },
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  child.on('message', () => void child.kill('SIGKILL'));
  const [code, signal] = await once(child, 'exit');
  if (signal !== 'SIGKILL') throw new Error(`the host ended by itself, with ${code}`);
}

/** Reads the rows of a namespace, and the updates. */
export async function readLeft<R>(path: string, prefix: string) {
  const journal = await readJournal(path);
  try {
    const rows: R[] = [];
    for (const { namespace } of await journal.keyValues.namespaces())
      if (namespace.startsWith(prefix))
        for (const { body } of await journal.keyValues.list(namespace, { prefix: '', limit: 100 }))
          rows.push(JSON.parse(body) as R); // the caller says which rows have the prefix
    return { rows, updates: await journal.updates({ limit: 100 }) };
  } finally {
    await journal.close();
  }
}

/** One round: a host dies at a point. */
export interface KillRound<P extends string> {
  readonly point: P;
  readonly how: 'there' | 'after';
}

/** Rounds that come to the points by turn: first there, and then shortly after them. */
export function killRounds<P extends string>(
  points: readonly P[],
  count: number,
): readonly (readonly [P, readonly KillRound<P>[]])[] {
  return points.map((point, at) => {
    const own = Math.ceil((count - at) / points.length);
    const hows = Array.from({ length: own }, (_, n): KillRound<P>['how'] =>
      n % 2 === 0 ? 'there' : 'after',
    );
    return [point, hows.map((how) => ({ point, how }))];
  });
}

/** Does something for each of many, a few at a time. */
export async function fewAtATime<T>(
  all: readonly T[],
  width: number,
  work: (one: T) => Promise<void>,
): Promise<void> {
  const left = [...all];
  const next = async (): Promise<void> => {
    for (let one = left.shift(); one !== undefined; one = left.shift()) await work(one);
  };
  await Promise.all(Array.from({ length: width }, next));
}
