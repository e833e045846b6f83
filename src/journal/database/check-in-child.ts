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
    const sql = 'SELECT hex(integrity_check) AS hex FROM pragma_integrity_check(1)';
    told({ hex: database.prepare(sql).all([])[0].hex });
  } catch (error) {
    told({ code: String(error.code), message: String(error.message) });
  }`;

/** The signals by which a process ends that reads damage. Any other one was sent to it. */
const crash = /^SIG(ABRT|BUS|FPE|ILL|SEGV|TRAP)$/;

/**
 * Reads every page of a database, and looks up each row in each index, in a process of its own: this one goes on meanwhile.
 * Others may write to the database.
 *
 * @param signal ends it.
 * @returns `database-damaged` or `database-io`; `undefined` if nothing is wrong, and if no process could be started or it was ended.
 * @example
 * const problem = await checkInChild('./state.db', signal);
 */
export function checkInChild(path: string, signal: AbortSignal): Promise<SluiceError | undefined> {
  const name = `${pathToFileURL(resolve(path)).href}?mode=ro`;
  const args = ['--eval', program, '--', import.meta.url, name];
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
        settle(damaged(path, `the process that checked it ended by ${by}`));
      else settle(told === '' ? undefined : problemOf(path, told));
    });
  });
}

function problemOf(path: string, told: string): SluiceError | undefined {
  const { hex, ...error } = JSON.parse(told) as { hex?: string; code?: string; message?: string }; // by the program above
  if (hex === undefined) {
    const failure = sqliteFailure(path, Object.assign(new Error(error.message), error));
    return ['database-damaged', 'database-io'].includes(failure.code) ? failure : undefined;
  }
  const problem = Buffer.from(hex, 'hex').toString('latin1');
  return problem === 'ok' ? undefined : damaged(path, shortened(problem));
}

function damaged(path: string, problem: string): SluiceError {
  return journalError('database-damaged', { path, problem });
}
