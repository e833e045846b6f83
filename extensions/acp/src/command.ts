import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import type { ProgramSettings } from './config.js';

/** The variables that each program gets: those that it needs to find its files and its login. */
const usual = [
  ...['PATH', 'HOME', 'USER', 'LOGNAME', 'SHELL', 'LANG', 'LC_ALL', 'TZ', 'TMPDIR'],
  ...['SystemRoot', 'APPDATA', 'LOCALAPPDATA', 'USERPROFILE', 'TEMP', 'PATHEXT'],
];

/** Splits a command into its words, as a shell does with quotes. Nothing else in it has a meaning. */
export function wordsOf(command: string): readonly string[] {
  const words = command.match(/(?:"[^"]*"|'[^']*'|[^\s"'])+/g) ?? [];
  return words.map((word) => word.replace(/"([^"]*)"|'([^']*)'/g, '$1$2'));
}

/** Starts a program in a group of its own, with these variables and no others. */
export function startChild(
  command: string,
  { cwd, env, passEnv }: Pick<ProgramSettings, 'cwd' | 'env' | 'passEnv'>,
): ChildProcessWithoutNullStreams {
  const [file = '', ...args] = wordsOf(command);
  const passed = [...usual, ...passEnv].flatMap((name) => {
    const value = process.env[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  return spawn(file, args, {
    ...{ cwd, stdio: 'pipe', windowsHide: true, detached: process.platform !== 'win32' },
    env: { ...Object.fromEntries(passed), ...env },
  });
}

/** Sends a signal to a program and to those that it has started. */
export function signalChild(
  { pid }: Pick<ChildProcessWithoutNullStreams, 'pid'>,
  signal: NodeJS.Signals,
): void {
  if (pid === undefined) return;
  try {
    process.kill(process.platform === 'win32' ? pid : -pid, signal);
  } catch {
    // nobody of them is left
  }
}
