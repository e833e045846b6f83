import { dispatchTap, type HostOptions, openJournal } from '../../host/index.js';
import { bothTaps } from '../../host/internal.js';
import { definedFields, type KernelOptions } from '../../kernel/index.js';
import type { Settings } from '../settings/settings.js';

/** The journal of a host, with the tap by which its kernel writes to it. It is disposed after both. */
export interface Kept extends AsyncDisposable {
  readonly kernelOptions: Pick<KernelOptions, 'tap' | 'trace'>;
  readonly hostOptions: Pick<HostOptions, 'journal' | 'store' | 'maxAttempts'>;
}

/**
 * Opens the journal of the settings, if they name one. Without one everything is in memory.
 *
 * @throws SluiceError (as a rejection) what `openJournal` throws.
 */
export async function openKept(
  { journal: setting, secrets }: Pick<Settings, 'journal' | 'secrets'>,
  kernelOptions: Kept['kernelOptions'],
): Promise<Kept> {
  if (setting === undefined)
    return { kernelOptions, hostOptions: {}, [Symbol.asyncDispose]: async () => undefined };
  const { path, keepForMs, keepBytes, maxAttempts, dispatches = true, ...written } = setting;
  const journal = await openJournal(path, {
    secrets,
    ...definedFields({ keepForMs, keepBytes }),
  });
  const tap = dispatches ? bothTaps(dispatchTap(journal, written), kernelOptions.tap) : undefined;
  return {
    kernelOptions: tap === undefined ? kernelOptions : { ...kernelOptions, trace: true, tap },
    hostOptions: {
      journal,
      store: journal.store,
      ...definedFields({ maxAttempts }),
    },
    [Symbol.asyncDispose]: () => journal.close(), // the host has done so, unless it was never made
  };
}
