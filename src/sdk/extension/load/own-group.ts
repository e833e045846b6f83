import childProcess from 'node:child_process';
import process from 'node:process';

/**
 * Has the processes that some work starts stand in groups of their own: a Ctrl-C in the terminal, a SIGHUP to the host's
 * group, is for the host and not for them (spec §13.14). It is for libraries that start a process and do not let it be said how; code of one's
 * own passes `detached` to `spawn`. A process that reads its stdin still ends with the host, however the host ends.
 *
 * @param run starts them before it returns, by `spawn` of the module `node:child_process`.
 * @returns the result of `run`.
 * @example
 * await inOwnGroup(() => transport.start());
 */
export function inOwnGroup<T>(run: () => T): T {
  return startedApart(childProcess, isDetached, run);
}

/** A child can stand in a group of its own here: on Windows that would open a window. */
export const isDetached = process.platform !== 'win32';

/** The work of `inOwnGroup`. It uses nothing but what it is given: the hooks' thread runs its text. */
export function startedApart<T>(module: { spawn: unknown }, detached: boolean, run: () => T): T {
  const { spawn } = module;
  if (typeof spawn !== 'function') return run();
  module.spawn = (file: unknown, ...rest: [unknown?, object?]): unknown => {
    const [args, options] = Array.isArray(rest[0]) ? rest : [[], rest[1] ?? rest[0]]; // a program needs no arguments
    return spawn(file, args, { ...Object(options), detached });
  };
  try {
    return run();
  } finally {
    module.spawn = spawn;
  }
}
