import { spawn } from 'node:child_process';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { isDetached } from '@sluice/sdk/extension/internal';
import type { SluiceError } from 'sluice-kernel';
import { journalError } from '../errors.js';
import { sqliteFailure } from './sqlite-failure.js';
import { shortened } from './sqlite-values.js';

/** The program of the child. A text of a damaged file comes as hex digits: the driver ends a process that reads it as a text. */
const program = `
  const Driver = require('node:module').createRequire(process.argv[1])('libsql');
  const told = (result) => process.stdout.write(JSON.stringify(result));
  try {
    const database = new Driver(process.argv[2], { timeout: 60000 });
    const [sql, ...values] = process.argv.slice(3);
    process.umask(0o077);
    try { database.exec('PRAGMA auto_vacuum = INCREMENTAL') } catch {} // of a copy: a file that is read refuses it
    const statement = database.prepare(sql);
    told({ hex: statement.reader ? statement.all(values)[0].hex : (statement.run(values), '') });
  } catch (error) {
    told({ code: String(error.code), message: String(error.message) });
  }`;

/** The signals by which a process ends that reads damage. Any other one was sent to it. */
const crash = /^SIG(ABRT|BUS|FPE|ILL|SEGV|TRAP)$/;

/** The end of a statement in a child: the column `hex` of its one row, if it gives one; or an error as the driver has it. */
interface ChildEnd {
  readonly hex?: string;
  readonly code?: string;
  readonly message?: string;
}

/**
 * Runs a statement that writes nothing to a database, in a process of its own: this one goes on meanwhile, and others may write to
 * the database.
 *
 * @param signal ends the process.
 * @returns `undefined` if no process could be started, or if it was ended.
 */
export function runInChild(
  path: string,
  [sql, ...values]: readonly [sql: string, ...values: string[]],
  signal: AbortSignal,
): Promise<ChildEnd | undefined> {
  const name = `${pathToFileURL(resolve(path)).href}?mode=ro`;
  const args = ['--eval', program, '--', import.meta.url, name, sql, ...values];
  const env = { ...process.env, NODE_OPTIONS: '' };
  return new Promise((settle) => {
    const child = spawn(process.execPath, args, {
      ...{ signal, env, windowsHide: true, detached: isDetached },
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    let told = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      told += text;
    });
    child.once('error', () => settle(undefined));
    child.once('close', (_, by) => {
      if (signal.aborted) settle(undefined);
      else if (by !== null && crash.test(by))
        settle({ code: 'SQLITE_CORRUPT', message: `the process that read it ended by ${by}` });
      else settle(told === '' ? undefined : (JSON.parse(told) as ChildEnd)); // by the program above
    });
  });
}

/**
 * Reads every page of a database, and looks up each row in each index, in a process of its own.
 *
 * @returns `database-damaged` or `database-io`; `undefined` if nothing is wrong, and if no process could be started or it was ended.
 * @example
 * const problem = await checkInChild('./state.db', signal);
 */
export async function checkInChild(
  path: string,
  signal: AbortSignal,
): Promise<SluiceError | undefined> {
  const sql = 'SELECT hex(integrity_check) AS hex FROM pragma_integrity_check(1)';
  const { hex, code, message } = (await runInChild(path, [sql], signal)) ?? {};
  if (code !== undefined) {
    const failure = sqliteFailure(path, Object.assign(new Error(message), { code }));
    return ['database-damaged', 'database-io'].includes(failure.code) ? failure : undefined;
  }
  const found = hex === undefined ? 'ok' : Buffer.from(hex, 'hex').toString('latin1');
  if (found === 'ok') return undefined;
  return journalError('database-damaged', { path, problem: shortened(found) });
}
