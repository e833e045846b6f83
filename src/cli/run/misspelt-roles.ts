import { roleEntry } from '@sluice/host/internal';
import { nearest } from 'sluice-kernel/internal';
import { CommandError } from '../errors/command-error.js';
import type { Settings } from '../settings/settings.js';

/**
 * Refuses a role whose channel is misspelt: nobody would have the role, and nothing would say so. A channel that is like none
 * that is known may be another host's.
 *
 * @param known the ids of the channels that are there, started or not.
 * @throws CommandError `bad-config`.
 */
export function refuseMisspeltRoles(roles: Settings['roles'], known: readonly string[]): void {
  for (const [role, entries] of Object.entries(roles))
    for (const entry of entries) {
      const [, id = ''] = roleEntry.exec(entry) ?? [];
      const close = known.includes(id) ? undefined : nearest(id, known);
      const what = `roles.${role} has "${entry}", and there is no channel "${id}"`;
      const hint = `Did you mean "${close}"? Fix or remove the entry.`;
      if (close !== undefined) throw new CommandError('bad-config', what, hint);
    }
}
