import { runCommand } from '@sluice/host/internal';
import type { Kernel } from 'sluice-kernel';
import type { ExitCode } from './exit-codes.js';
import type { Shell } from './shell.js';
import { printable } from './text.js';

/**
 * Does the work of a command between `command.received` and `command.completed`, so that extensions audit the command
 * line as they do the commands of a chat. The replies of handlers go to stderr.
 *
 * @returns the exit code of the work.
 * @throws the error of the work, after `command.completed`.
 */
export async function asCliCommand(
  kernel: Kernel,
  name: string,
  { args, stderr }: Pick<Shell, 'args' | 'stderr'>,
  work: () => Promise<ExitCode>,
): Promise<ExitCode> {
  const { value, error, replies } = await runCommand(
    kernel,
    { name, args: args.slice(1), source: 'cli', surface: 'cli' },
    work,
    { describe: (exitCode) => ({ exitCode }) },
  );
  stderr.lines(replies.map(printable));
  if (value === undefined) throw error;
  return value;
}
