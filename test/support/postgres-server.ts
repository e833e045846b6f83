import { type ChildProcess, execFile, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { debianFolder, librariesOf, unpackDebian } from './debian-packages.js';
import { asUser, folderOfUser } from './other-user.js';

const major = 15;
const system = `/usr/lib/postgresql/${major}/bin`;
const cache = debianFolder(`postgresql-${major}`);

/** The programs of a PostgreSQL, and the environment that they run in. */
interface PostgresPrograms {
  readonly bin: string;
  readonly env: NodeJS.ProcessEnv;
}

/** Finds PostgreSQL: that of the machine, or the unpacked packages of Debian. */
export function findPostgres(): PostgresPrograms | undefined {
  const env = { PATH: process.env['PATH'], LANG: 'C.UTF-8', TZ: 'UTC' };
  if (existsSync(join(system, 'postgres'))) return { bin: system, env };
  const bin = join(cache, system);
  if (!existsSync(join(bin, 'postgres'))) return undefined;
  return { bin, env: { ...env, LD_LIBRARY_PATH: librariesOf(cache) } };
}

/** Downloads and unpacks the packages of Debian, with the libraries that the programs load. Nothing is installed, no service starts. */
export function installPostgres(): void {
  if (findPostgres() !== undefined) return;
  const name = `postgresql-${major}`;
  unpackDebian(cache, [name, `postgresql-client-${major}`]);
}

/** The programs as the user of the server may run them: those of the cache are copied, since the home of root is closed to others. */
function programsIn(folder: string): PostgresPrograms | undefined {
  const programs = findPostgres();
  if (programs === undefined || asUser === undefined || programs.bin === system) return programs;
  cpSync(join(cache, 'usr'), join(folder, 'usr'), { recursive: true, verbatimSymlinks: true });
  return {
    bin: join(folder, system),
    env: { ...programs.env, LD_LIBRARY_PATH: librariesOf(folder) },
  };
}

/** A PostgreSQL that runs for tests: on a socket in a temporary folder, with its data on the disk. */
export class PostgresServer {
  readonly #programs: PostgresPrograms;
  readonly #folder: string;
  readonly #options: readonly string[];
  #process: ChildProcess | undefined;

  private constructor(programs: PostgresPrograms, folder: string, options: readonly string[]) {
    this.#programs = programs;
    this.#folder = folder;
    this.#options = options;
  }

  /** @throws Error if there is no PostgreSQL: `npm run test:postgres` fetches one. */
  static async start(options: readonly string[] = []): Promise<PostgresServer> {
    const folder = folderOfUser('sluice-pg-');
    const programs = programsIn(folder);
    if (programs === undefined) throw new Error('there is no PostgreSQL: run installPostgres()');
    const made = spawnSync(
      join(programs.bin, 'initdb'),
      [
        ...['-D', join(folder, 'data'), '-U', 'sluice', '-A', 'trust', '-E', 'UTF8'],
        ...['--locale=C.UTF-8', '--no-sync', '--no-instructions'],
      ],
      { ...asUser, env: programs.env, cwd: folder, encoding: 'utf8' },
    );
    if (made.status !== 0) throw new Error(`initdb: ${made.stderr}`);
    const server = new PostgresServer(programs, folder, options);
    await server.run();
    return server;
  }

  /** Makes a copy of it that follows it under the name `standby`, and runs. */
  async standby(): Promise<PostgresServer> {
    const folder = folderOfUser('sluice-pg-');
    const from = `host=${this.#folder} user=sluice application_name=standby`;
    await promisify(execFile)(
      join(this.#programs.bin, 'pg_basebackup'),
      [...['-D', join(folder, 'data'), '-d', from, '-c', 'fast', '-R', '--no-sync']],
      { ...asUser, env: this.#programs.env, cwd: folder },
    );
    const server = new PostgresServer(this.#programs, folder, this.#options);
    await server.run();
    return server;
  }

  /** The folder of its socket. */
  get folder(): string {
    return this.#folder;
  }

  /** The address of one of its databases. */
  url(database = 'postgres'): string {
    return `postgres://sluice@localhost/${database}?host=${encodeURIComponent(this.#folder)}`;
  }

  /** Starts it, again after it was stopped. */
  async run(): Promise<void> {
    const child = spawn(
      join(this.#programs.bin, 'postgres'),
      [
        ...['-D', join(this.#folder, 'data'), '-k', this.#folder, '-c', 'listen_addresses='],
        ...[
          '-c',
          'fsync=on',
          '-c',
          'max_connections=200',
          '-c',
          'wal_retrieve_retry_interval=100ms',
          ...this.#options,
        ],
      ],
      {
        ...asUser,
        env: this.#programs.env,
        cwd: this.#folder,
        stdio: ['ignore', 'ignore', 'pipe'],
      },
    );
    this.#process = child;
    let log = '';
    await new Promise<void>((resolve, reject) => {
      child.stderr.on('data', (part: Buffer) => {
        log += part.toString();
        if (/ready to accept (read-only )?connections/.test(log)) resolve();
      });
      child.once('exit', () => reject(new Error(`postgres ended: ${log}`)));
    });
    child.stderr.removeAllListeners('data').resume();
  }

  /** Stops it: at once by `SIGQUIT`, which loses what is under way, or by `SIGINT`, which ends its connections. */
  async halt(signal: 'SIGINT' | 'SIGQUIT' = 'SIGINT'): Promise<void> {
    const child = this.#process;
    this.#process = undefined;
    if (child === undefined || child.exitCode !== null) return;
    const ended = once(child, 'exit');
    child.kill(signal);
    await ended;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.halt('SIGQUIT');
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
