import { type HealthServer, type Host, startHealthServer } from '@sluice/host';
import type { Journal } from '@sluice/journal';
import type { Logger } from 'sluice-kernel';
import { CommandError } from '../errors/command-error.js';
import { unusablePort } from '../errors/port.js';
import type { Settings } from '../settings/settings.js';
import type { Shell } from '../shell/shell.js';

/**
 * Opens the health port that the settings ask for, and prints its address.
 *
 * @throws CommandError `unusable-port` if nobody can listen at it; `bad-config` if it needs a journal.
 */
export async function openHealthPort(
  host: Host,
  { health, journal: setting }: Pick<Settings, 'health' | 'journal'>,
  { stderr }: Pick<Shell, 'stderr'>,
  { journal, logger }: { readonly journal: Journal; readonly logger: Logger },
): Promise<HealthServer | undefined> {
  if (health === undefined) return undefined;
  const { events, ...options } = health;
  if (events !== undefined && setting === undefined)
    throw new CommandError(
      'bad-config',
      '"health.events" needs a journal: there is none whose events could be followed',
      'Add "journal": { "path": "./sluice.db" }, or --journal FILE.',
    );
  try {
    const server = await startHealthServer(host, {
      ...options,
      logger,
      ...(events && { events: { ...events, journal } }),
    });
    stderr.lines([`sluice: health at ${server.url}/healthz and /readyz`]);
    return server;
  } catch (cause) {
    const ways = '--health-port, or by "health" in the config';
    throw unusablePort('the health port', options, ways, cause);
  }
}
