import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'vitest';
import { answerAsOperator } from '../../../src/cli/approvals/approvals.js';
import { journalError } from '../../../src/journal/errors.js';
import { type Journal, memoryStore, openJournal, type Store } from '../../../src/journal/index.js';
import { type VirtualClock, virtualClock } from '../../../src/testing/index.js';
import { compiled } from '../../support/compiled.js';
import { sharedJournal } from '../../support/shared-journal.js';
import type { AgentName, AgentPlace } from './fixtures/agents.js';
import { answerHost } from './fixtures/host.js';

/** The things that become of a question while its turn is cut off. */
export const answers = ['open', 'allowed', 'denied', 'expired'] as const;
export type Answer = (typeof answers)[number];

/** Cuts a turn off whose question is open, and gives the question its answer meanwhile. */
export type Cut = (cell: Cell) => Promise<Resumed>;

export type RunningHost = Awaited<ReturnType<typeof answerHost>>;

/** A turn that was cut off while its question was open, and the host in which it goes on. */
export interface Resumed {
  readonly host: RunningHost;
  readonly clock: VirtualClock;
  /** The host in which it was cut off, if that is another one in this process. */
  readonly before?: RunningHost;
  /** The id of the question. */
  readonly id: string;
}

interface Cell {
  readonly agent: AgentName;
  readonly answer: Answer;
  readonly place: AgentPlace;
}

const hourMs = 3_600_000;
const programs = fileURLToPath(new URL('fixtures/', import.meta.url));
export const placeOf = (folder: string, url: string): AgentPlace => ({ folder, url, programs });

/** Lets the event loop and, a little at a time, the clock go on until something is so. */
export async function until(
  isSo: () => boolean,
  clock?: VirtualClock,
  what = 'it never came to this',
): Promise<void> {
  for (let turns = 0; !isSo(); turns++) {
    if (turns > 100_000) throw new Error(what);
    await new Promise((resolve) => setTimeout(resolve, 1));
    if (turns % 100 === 99) await clock?.advance(100);
  }
}

export const textsOf = ({ channel }: RunningHost): readonly string[] =>
  channel.sent.filter(({ kind }) => kind !== 'approval').map(({ content }) => content);

export const endsOf = ({ ends }: RunningHost): readonly string[] =>
  ends.filter(({ updateId }) => updateId === 'v2').map(({ status }) => status);

/** The id of a question, by its buttons. */
export const idOf = (question: ReturnType<RunningHost['questions']>[number] | undefined): string =>
  question?.interactive?.buttons?.[0]?.id.split(':')[2] ?? '';

/** A person presses a button of a question. */
export function press({ channel }: RunningHost, id: string, state: 'allowed' | 'denied'): void {
  const button = `sluice:a:${id}:${state === 'allowed' ? 0 : 1}`;
  void channel.receive({ text: '', press: button }, button);
}

/** A person says what is to be deployed, and another is asked. A question that is to expire has a second left then. */
async function asked(host: RunningHost, answer: Answer, clock: VirtualClock): Promise<string> {
  void host.channel.receive({ text: 'v2' }, 'v2');
  await until(() => host.questions().length > 0, clock, 'nobody was asked');
  if (answer === 'expired') await clock.advance(hourMs - 1_000);
  return idOf(host.questions()[0]);
}

/** The question gets its answer while there is a host. */
async function answerNow(host: RunningHost, id: string, answer: Answer, clock: VirtualClock) {
  if (answer === 'expired') await until(spent(1_500), clock);
  else if (answer !== 'open') press(host, id, answer);
}

/** The next host of a journal in a file, when the question has had its answer without one. */
async function nextHost(
  { agent, answer, place }: Cell,
  path: string,
  id: string,
  askers?: readonly string[],
) {
  const journal = await openJournal(path);
  if (answer === 'allowed' || answer === 'denied')
    await answerAsOperator(journal.keyValues, { id, state: answer });
  const clock = virtualClock(Date.now() + (answer === 'expired' ? 2 * hourMs : 0));
  const host = await answerHost({
    ...{ ...place, agent, journal, store: journal.store, clock },
    ...(askers !== undefined && { askers }),
  });
  return { host, clock };
}

export async function stopOf(host: RunningHost, clock: VirtualClock): Promise<void> {
  const stopping = host.host.stop();
  let isOver = false;
  void stopping.then(() => {
    isOver = true;
  });
  await until(() => isOver, clock, 'the host never stopped');
}

export async function stopped(cell: Cell): Promise<Resumed> {
  const { agent, place, answer } = cell;
  const path = join(place.folder, 'sluice.db');
  const journal = await openJournal(path);
  const clock = virtualClock(Date.now());
  const first = await answerHost({ ...place, agent, journal, store: journal.store, clock });
  const id = await asked(first, answer, clock);
  await stopOf(first, clock);
  const next = await nextHost(cell, path, id);
  return { ...next, id, before: first };
}

/** The host stops at the question of one veto, and the next one stops at that of another, about the same call. */
export async function stoppedTwice(cell: Cell): Promise<Resumed> {
  const askers = ['first', 'second'];
  const { place, answer } = cell;
  const path = join(place.folder, 'sluice.db');
  const journal = await openJournal(path);
  const clock = virtualClock(Date.now());
  const options = { ...place, agent: cell.agent, askers };
  const one = await answerHost({ ...options, journal, store: journal.store, clock });
  const first = await asked(one, 'open', clock);
  await stopOf(one, clock);
  const two = await nextHost({ ...cell, answer: 'allowed' }, path, first, askers);
  await until(() => two.host.questions().length > 0, two.clock, 'nobody was asked again');
  const id = idOf(two.host.questions()[0]);
  expect(id).not.toBe(first);
  await stopOf(two.host, two.clock);
  return { ...(await nextHost({ ...cell, answer }, path, id, askers)), id, before: two.host };
}

let program: Promise<string> | undefined;

export async function killed(cell: Cell): Promise<Resumed> {
  const { agent, place } = cell;
  const path = join(place.folder, 'sluice.db');
  program ??= compiled(join(programs, 'host.ts'));
  const child = fork(await program, [JSON.stringify({ ...place, agent, path })], {
    execArgv: [],
    env: { PATH: process.env['PATH'] ?? '' },
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  const [id] = await Promise.race([
    once(child, 'message'),
    once(child, 'exit').then(() => Promise.reject(new Error('the host ended by itself'))),
  ]);
  child.kill('SIGKILL');
  await once(child, 'exit');
  return { ...(await nextHost(cell, path, String(id))), id: String(id) };
}

/** A host of this process on a journal in a file, whose turn waits for its answer. */
async function waiting(
  { agent, place, answer }: Cell,
  of = (journal: Journal & { store: Store }) => journal,
) {
  const journal = of(await openJournal(join(place.folder, 'sluice.db')));
  const clock = virtualClock(Date.now());
  const host = await answerHost({ ...place, agent, journal, store: journal.store, clock });
  return { host, clock, id: await asked(host, answer, clock) };
}

export const reloaded =
  (which: 'agent' | 'all') =>
  async (cell: Cell): Promise<Resumed> => {
    const resumed = await waiting(cell);
    const { host, clock, id } = resumed;
    const reloading = host.host.reload(which === 'agent' ? host.extensionId : undefined);
    await answerNow(host, id, cell.answer, clock);
    await reloading;
    return resumed;
  };

/** The journal fails each call, as one whose disk or server is away. */
export async function away(cell: Cell): Promise<Resumed> {
  let isAway = false;
  const fault = () => journalError('database-io', { path: 'sluice.db', problem: 'it is away' });
  const failing = <T extends object>(inner: T, names: readonly (keyof T)[]): T =>
    new Proxy(inner, {
      get: (target, name) => {
        const value: unknown = Reflect.get(target, name);
        if (typeof value !== 'function' || !names.includes(name as keyof T)) return value; // the names are strings
        return (...given: unknown[]) =>
          isAway ? Promise.reject(fault()) : Reflect.apply(value, target, given);
      },
    });
  const resumed = await waiting(cell, (journal) => {
    const { store, keyValues } = journal;
    const whole = failing(journal, [
      ...(['accept', 'begin', 'release', 'endUpdate', 'prepare', 'final', 'sending'] as const),
      ...(['unsent', 'shown', 'endSend', 'updates', 'sends'] as const),
    ]);
    const parts = {
      store: failing(store, ['loadSession', 'saveSession', 'appendMessage', 'readTranscript']),
      keyValues: failing(keyValues, ['get', 'write', 'list']),
    };
    return new Proxy(whole, {
      get: (target, name) => (name in parts ? Reflect.get(parts, name) : Reflect.get(target, name)),
    });
  });
  const { host, clock, id } = resumed;
  isAway = true;
  await answerNow(host, id, cell.answer, clock);
  await until(spent(200), clock);
  isAway = false;
  if (cell.answer !== 'expired') await answerNow(host, id, cell.answer, clock); // its channel brings the press again
  return resumed;
}

/** So many turns of the event loop are over. */
function spent(turns: number): () => boolean {
  let left = turns;
  return () => left-- <= 0;
}

export async function leaseLost({ agent, place, answer }: Cell): Promise<Resumed> {
  const clock = virtualClock(Date.now());
  const shared = sharedJournal(clock);
  const store = memoryStore();
  const made = (name: string) =>
    answerHost({ ...place, agent, journal: shared.of(name), store, clock });
  shared.give('a', shared.all);
  const first = await made('a');
  const host = await made('b');
  const id = await asked(first, answer, clock);
  shared.give('b', shared.all);
  await answerNow(host, id, answer, clock);
  return { host, clock, id, before: first };
}
