import {
  type HealthServer,
  type Host,
  type HostOptions,
  startHealthServer,
} from '../../host/index.js';
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
  { health, journal: setting }: Pick<Settings, 'health' | 'journal'>,
  { stderr }: Pick<Shell, 'stderr'>,
  { journal }: Pick<HostOptions, 'journal'>,
): Promise<HealthServer | undefined> {
  const asked = given === undefined ? health : { ...health, port: portOf(given) };
  if (asked === undefined) return undefined;
  const { events, ...options } = asked;
  if (events !== undefined && (setting === undefined || journal === undefined))
    throw new CommandError(
      'bad-config',
      '"health.events" needs a journal: there is none whose events could be followed',
      'Add "journal": { "path": "./sluice.db" }, or --journal FILE.',
    );
  try {
    const server = await startHealthServer(host, {
      ...options,
      ...(events && journal && { events: { ...events, journal } }),
    });
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
