import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { loadavg } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pass } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { connect } from '../../extensions/postgres/src/index.js';
import { getOrMake } from '../../src/kernel/internal.js';
import { readPostgresHosts } from '../../src/postgres/postgres-reader.js';
import { migratePostgres } from '../../src/postgres/postgres-schema.js';
import { installPostgres, PostgresServer } from '../support/postgres-server.js';
import { temporaryFolder } from '../support/temporary-folder.js';

// Hosts as processes that share one PostgreSQL, beside one with a journal in a file: the messages that they carry while turns take
// their time, the time of a message without a turn, and the time until another host handles the messages of one that was killed.

const program = fileURLToPath(new URL('carrier.mjs', import.meta.url));
const partitions = 64;
const conversations = 200;

interface Update {
  readonly id: string;
  readonly conversation: string;
}

interface Said {
  readonly ready?: true;
  readonly answered?: readonly string[];
}

/** Some hosts, and the messages that they have answered, with their times. */
class Fleet implements AsyncDisposable {
  readonly hosts: ChildProcess[] = [];
  readonly answeredAtMs = new Map<string, number>();
  /** The times of the answers of each host. */
  readonly timesMs = new Map<ChildProcess, number[]>();
  readonly #place: string;
  readonly #turnMs: number;
  readonly #wanted = new Set<string>();
  #found: (() => void) | undefined;

  constructor(place: string, turnMs: number) {
    this.#place = place;
    this.#turnMs = turnMs;
  }

  async start(): Promise<void> {
    const child = fork(program, [this.#place, `${this.#turnMs}`]);
    this.hosts.push(child);
    await new Promise<void>((resolve) => {
      child.on('message', ({ ready, answered = [] }: Said) => {
        if (ready) resolve();
        for (const id of answered) {
          if (this.answeredAtMs.has(id)) continue;
          const atMs = performance.now();
          this.answeredAtMs.set(id, atMs);
          getOrMake(this.timesMs, child, () => []).push(atMs);
          if (this.#wanted.delete(id) && this.#wanted.size === 0) this.#found?.();
        }
      });
    });
  }

  /** Gives a host a message, and waits for the answer of any. @returns the milliseconds that it took. */
  async ask(at: number, update: Update): Promise<number> {
    const fromMs = performance.now();
    const found = this.#answered([update]);
    this.hosts[at % this.hosts.length]?.send({ updates: [update] });
    await found;
    return performance.now() - fromMs;
  }

  /** Gives the hosts many messages, in turns, and waits for all answers. @returns the milliseconds that they took. */
  async askAll(updates: readonly Update[]): Promise<number> {
    const fromMs = performance.now();
    this.timesMs.clear();
    const found = this.#answered(updates);
    for (const [at, host] of this.hosts.entries())
      host.send({ updates: updates.filter((_, index) => index % this.hosts.length === at) });
    await found;
    return Math.max(...updates.map(({ id }) => this.answeredAtMs.get(id) ?? 0)) - fromMs;
  }

  #answered(updates: readonly Update[]): Promise<void> {
    for (const { id } of updates) this.#wanted.add(id);
    return new Promise((resolve) => {
      this.#found = resolve;
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const child of this.hosts)
      if (child.exitCode === null && child.signalCode === null) {
        const ended = once(child, 'exit');
        child.send({ stop: true });
        await ended;
      }
  }
}

let messages = 0;
const some = (many: number): Update[] =>
  Array.from({ length: many }, (_, at) => ({
    ...{ id: `m-${++messages}`, conversation: `c-${at % conversations}` },
  }));

const median = (values: readonly number[]): number =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;

const said = (text: string): void => console.log(`${text} (load ${loadavg()[0]?.toFixed(1)})`);

/** The milliseconds of CPU that a process has used, with its children that have ended; 0 if it is gone. */
function cpuOf(pid: string | number | undefined): number {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /s, '')
      .split(' ');
    return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks) * 10, 0); // utime, stime, and those of children
  } catch {
    return 0;
  }
}

/** The same of a server: it forks a process for each connection. */
function cpuOfServer({ folder }: PostgresServer): number {
  const [root = ''] = readFileSync(join(folder, 'data', 'postmaster.pid'), 'utf8').split('\n');
  const children = readdirSync('/proc').filter((pid) => {
    try {
      return new RegExp(`^PPid:\\s+${root}$`, 'm').test(
        readFileSync(`/proc/${pid}/status`, 'utf8'),
      );
    } catch {
      return false; // it is no process, or gone
    }
  });
  return [root, ...children].reduce((sum, pid) => sum + cpuOf(pid), 0);
}

let databases = 0;
async function newPlace(server: PostgresServer): Promise<string> {
  const name = `bench_${++databases}`;
  const admin = connect(server.url());
  await admin.query(`CREATE DATABASE ${name}`);
  await admin.close();
  const connections = connect(server.url(name));
  await migratePostgres(connections, partitions);
  await connections.close();
  return server.url(name);
}

/** Starts hosts, and waits until each has its share. */
async function fleetOf(place: string, turnMs: number, many: number): Promise<Fleet> {
  const fleet = new Fleet(place, turnMs);
  for (let at = 0; at < many; at++) await fleet.start();
  if (!place.startsWith('postgres:')) return fleet;
  const connections = connect(place);
  const share = Math.ceil(partitions / many);
  for (;;) {
    const hosts = await readPostgresHosts(connections);
    if (hosts.length === many && hosts.every(({ parts }) => parts.length <= share)) break;
    await pass(100);
  }
  await connections.close();
  return fleet;
}

installPostgres();
await using server = await PostgresServer.start();
using folder = temporaryFolder();
const kinds = [
  {
    name: 'a journal in a file, one host',
    many: 1,
    place: async () => join(folder.path, `${++databases}.db`),
  },
  { name: 'PostgreSQL, one host', many: 1, place: () => newPlace(server) },
  { name: 'PostgreSQL, three hosts', many: 3, place: () => newPlace(server) },
];
const only = process.argv[2] ?? 'all';

if (only === 'all' || only === 'turns')
  for (const { name, many, place } of kinds) {
    await using fleet = await fleetOf(await place(), 300, many);
    await fleet.askAll(some(conversations));
    const all = 600 * many;
    const cpu = () => ({
      hosts: fleet.hosts.reduce((sum, { pid }) => sum + cpuOf(pid), 0),
      server: cpuOfServer(server),
      feeder: cpuOf(process.pid),
    });
    const before = cpu();
    const fromMs = performance.now();
    const tookMs = await fleet.askAll(some(all));
    const after = cpu();
    const times = [...fleet.timesMs.values()];
    const untilMs = Math.min(...times.map((of) => of.at(-1) ?? fromMs)); // from then on, a host has nothing to do
    const meanwhile = times.flat().filter((atMs) => atMs <= untilMs).length;
    const busyRate = (meanwhile / (untilMs - fromMs)) * 1_000;
    const shares = times.map((of) => of.length).join(' + ');
    const [hosts, database, feeder] = (['hosts', 'server', 'feeder'] as const).map(
      (who) => (after[who] - before[who]) / all,
    );
    said(
      `${name}, turns of 300 ms, 16 at once: ${((all / tookMs) * 1_000).toFixed(1)} messages a second, ${busyRate.toFixed(1)} while each host has some (${shares} in all); CPU of a message: ${hosts?.toFixed(1)} ms of the hosts, ${database?.toFixed(1)} of the server, ${feeder?.toFixed(1)} of the bench`,
    );
  }

if (only === 'all' || only === 'messages')
  for (const { name, many, place } of kinds) {
    await using fleet = await fleetOf(await place(), 0, many);
    await fleet.askAll(some(1_000));
    const alone: number[] = [];
    for (const [at, update] of some(60).entries()) alone.push(await fleet.ask(at, update));
    const tookMs = await fleet.askAll(some(2_000));
    const worst = Math.max(...alone);
    said(
      `${name}: ${median(alone).toFixed(1)} ms a message alone (at most ${worst.toFixed(0)}), ${(tookMs / 2_000).toFixed(2)} ms with ${conversations} conversations`,
    );
  }

if (only === 'all' || only === 'failover')
  for (let round = 0; round < 3; round++) {
    await using fleet = await fleetOf(await newPlace(server), 0, 2);
    await fleet.askAll(some(conversations));
    const [killed] = fleet.hosts.splice(0, 1);
    killed?.kill('SIGKILL');
    const updates = some(conversations);
    const tookMs = await fleet.askAll(updates);
    const times = updates.map(({ id }) => fleet.answeredAtMs.get(id) ?? 0).sort((a, b) => a - b);
    const gaps = times.map((at, index) => at - (times[index - 1] ?? at));
    const first = times[gaps.indexOf(Math.max(...gaps))] ?? 0; // nobody answers until the lease has ended
    const firstMs = tookMs - ((times.at(-1) ?? 0) - first);
    said(
      `failover, lease of 5 s: ${firstMs.toFixed(0)} ms to the first message of the other host, ${tookMs.toFixed(0)} ms to the last of ${conversations}`,
    );
  }
