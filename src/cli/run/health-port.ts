import { type HealthServer, type Host, startHealthServer } from '../../host/index.js';
import { badArguments, CommandError } from '../errors/command-error.js';
import type { Settings } from '../settings/settings.js';
import { exitCodes } from '../shell/exit-codes.js';
import type { Shell } from '../shell/shell.js';

/**
 * Opens the health port that the command line or the config asks for, and prints its address.
 *
 * @param given `--health-port`, which wins.
 * @throws CommandError `bad-arguments` if it is no port; `unusable-port` if nobody can listen at it.
 */
export async function openHealthPort(
  host: Host,
  given: string | undefined,
  { health }: Pick<Settings, 'health'>,
  { stderr }: Pick<Shell, 'stderr'>,
): Promise<HealthServer | undefined> {
  const options = given === undefined ? health : { ...health, port: portOf(given) };
  if (options === undefined) return undefined;
  try {
    const server = await startHealthServer(host, options);
    stderr.lines([`sluice: health at ${server.url}/healthz and /readyz`]);
    return server;
  } catch (cause) {
    const code = cause instanceof Error && 'code' in cause ? String(cause.code) : 'unknown';
    throw new CommandError(
      'unusable-port',
      `the health port ${options.address ?? '127.0.0.1'}:${options.port} cannot be used (${code})`,
      'Choose another by --health-port, or by "health" in the config; 0 takes one that is free.',
      { cause, exitCode: exitCodes.failed },
    );
  }
}

function portOf(text: string): number {
  const port = Number(text);
  if (/^\d{1,5}$/.test(text) && port <= 65_535) return port;
  throw badArguments(
    `"${text}" is no port`,
    'Give a number from 0 to 65535 after --health-port; 0 takes one that is free.',
  );
}
