import { type HealthServer, type Host, type HostOptions, startHealthServer } from '@sluice/host';
import { definedFields } from 'sluice-kernel/internal';
import { CommandError } from '../errors/command-error.js';
import { portOf, unusablePort } from '../errors/port.js';
import type { Settings } from '../settings/settings.js';
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
  { journal, logger }: Pick<HostOptions, 'journal' | 'logger'>,
): Promise<HealthServer | undefined> {
  const asked = given === undefined ? health : { ...health, port: portOf(given, '--health-port') };
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
      ...definedFields({ logger }),
      ...(events && journal && { events: { ...events, journal } }),
    });
    stderr.lines([`sluice: health at ${server.url}/healthz and /readyz`]);
    return server;
  } catch (cause) {
    const ways = '--health-port, or by "health" in the config';
    throw unusablePort('the health port', options, ways, cause);
  }
}
