import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { debianFolder, librariesOf, unpackDebian } from './debian-packages.js';
import { asUser, folderOfUser } from './other-user.js';
import type { PostgresServer } from './postgres-server.js';

const system = '/usr/sbin/pgbouncer';
const cache = debianFolder('pgbouncer');

/** Downloads and unpacks the package of Debian, if the machine has none. */
export function installPgBouncer(): void {
  if (!existsSync(system) && !existsSync(join(cache, system))) unpackDebian(cache, ['pgbouncer']);
}

/** A PgBouncer in transaction mode that runs for tests, on a socket in a temporary folder. */
export class PgBouncer implements AsyncDisposable {
  readonly #folder: string;
  readonly #process: ChildProcess;

  private constructor(folder: string, process: ChildProcess) {
    this.#folder = folder;
    this.#process = process;
  }

  static async before(server: PostgresServer): Promise<PgBouncer> {
    const folder = folderOfUser('sluice-pg-');
    const settings = join(folder, 'pgbouncer.ini');
    writeFileSync(
      settings,
      `[databases]
* = host=${server.folder} user=sluice
[pgbouncer]
unix_socket_dir = ${folder}
auth_type = any
pool_mode = transaction
max_client_conn = 500
default_pool_size = 5
server_idle_timeout = 1
`,
    );
    const isOwn = !existsSync(system);
    const asIs = { recursive: true, verbatimSymlinks: true };
    if (isOwn) cpSync(join(cache, 'usr'), join(folder, 'usr'), asIs); // its user may not read the cache
    const child = spawn(isOwn ? join(folder, system) : system, [settings], {
      ...asUser,
      env: { PATH: process.env['PATH'], ...(isOwn && { LD_LIBRARY_PATH: librariesOf(folder) }) },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    let log = '';
    await new Promise<void>((resolve, reject) => {
      child.stderr.on('data', (part: Buffer) => {
        log += part.toString();
        if (log.includes('process up')) resolve();
      });
      child.once('exit', () => reject(new Error(`pgbouncer ended: ${log}`)));
    });
    child.stderr.removeAllListeners('data').resume();
    return new PgBouncer(folder, child);
  }

  /** The address of one of the databases of its server. */
  url(database = 'postgres'): string {
    return `postgres://sluice@localhost:6432/${database}?host=${encodeURIComponent(this.#folder)}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const ended = once(this.#process, 'exit');
    this.#process.kill('SIGQUIT');
    await ended;
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
