import { accessSync, constants, existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { suspendedNames } from '@sluice/host/internal';
import type { JournalReader } from '@sluice/journal';
import { placeName, readPlace } from '../settings/journal-place.js';
import type { Settings } from '../settings/settings.js';
import { counted } from '../shell/text.js';
import { checkHosts } from './check-hosts.js';
import { type Finding, findingsOf } from './finding.js';

const findings = findingsOf('journal');

/** Dead letters that are counted. */
const most = 1_000;

/** Finds values of extensions that are not loaded any more: they stay until somebody deletes them. */
async function leftValues(
  reader: JournalReader,
  path: string,
  loadedIds: readonly string[],
): Promise<Finding[]> {
  const uses = await reader.keyValues.namespaces();
  return uses.flatMap(({ namespace: id, keys }) => {
    if (loadedIds.includes(id) || id.startsWith('/')) return []; // the host's own
    const what = `keeps ${counted(keys, 'value', 'values')} of the extension "${id}", which is not loaded`;
    const hint = `Load the extension, or delete them: sluice store clear ${id}.`;
    return findings.warning(what, path, hint);
  });
}

/** Names the schedules and questions that no extension registers now: they are kept, and wait for their extension. */
async function suspended(
  reader: JournalReader,
  path: string,
  registered: Parameters<typeof suspendedNames>[1],
): Promise<Finding[]> {
  const names = await suspendedNames(reader, registered);
  return names.map(({ name, waiting }) => {
    const kept = `${name.replace(':', ' ')} is kept and suspended: no extension registers it`;
    if (waiting === 0) return findings.ok(kept, path);
    const what = `${kept}, and ${counted(waiting, 'job or question waits', 'jobs and questions wait')} for it`;
    return findings.warning(what, path, 'Load its extension, or one that registers that name.');
  });
}

/**
 * Looks at the journal without a write to it, also while a host uses it: it must be readable, its place writable, and dead
 * letters in it wait for an operator.
 */
export async function checkJournal(
  { place }: Pick<Settings, 'place'>,
  loadedIds: readonly string[],
  registered: Parameters<typeof suspendedNames>[1],
): Promise<Finding[]> {
  if (place === undefined) return [findings.ok('there is none: a crash loses what it interrupts')];
  const path = placeName(place);
  if ('path' in place) {
    const isThere = existsSync(path);
    const problem = whyNotWritable(isThere ? path : dirname(path));
    if (problem !== undefined) {
      const hint = 'Make the folder, or give the user of the host the right to write there.';
      return [findings.error(problem, path, hint)];
    }
    if (!isThere) return [findings.ok('will be made there', path)];
  }
  try {
    await using reader = await readPlace(place);
    const dead = await reader.updates({ states: ['dead'], limit: most });
    const open = await reader.updates({ states: ['accepted', 'handling'], limit: most });
    await reader.sends({ limit: 1 });
    await reader.dispatches({ limit: 1 });
    const what = `can be read; ${counted(open.length, 'message waits', 'messages wait')} to be handled`;
    const letters = counted(dead.length, 'dead letter', 'dead letters');
    const hint = 'See `sluice journal list --state dead`, and retry or purge them.';
    return [
      findings.ok(what, path),
      ...('url' in place ? await checkHosts(place) : []),
      ...(dead.length === 0 ? [] : [findings.warning(`holds ${letters}`, path, hint)]),
      ...(await leftValues(reader, path, loadedIds)),
      ...(await suspended(reader, path, registered)),
    ];
  } catch (thrown) {
    return [findings.thrown(thrown, path)];
  }
}

function whyNotWritable(path: string): string | undefined {
  try {
    accessSync(path, constants.R_OK | constants.W_OK);
    return undefined;
  } catch {
    return existsSync(path) ? 'cannot be written' : 'its folder is not there';
  }
}
