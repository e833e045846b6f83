import { exitCodes } from '../shell/exit-codes.js';
import { CommandError } from './command-error.js';

/**
 * The error of a port that nobody can listen at.
 *
 * @param ways Options and keys of the config that name another one.
 */
export function unusablePort(
  whose: string,
  { address = '127.0.0.1', port = 0 }: { readonly address?: string; readonly port?: number },
  ways: string,
  cause: unknown,
): CommandError {
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : 'unknown';
  return new CommandError(
    'unusable-port',
    `${whose} cannot listen at ${address}:${port} (${code})`,
    `Name another by ${ways}; 0 takes one that is free.`,
    { cause, exitCode: exitCodes.failed },
  );
}
