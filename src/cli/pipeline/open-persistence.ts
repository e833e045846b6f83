import { type HostOptions, keepTimeline, type TimelineRecorder } from '@sluice/host';
import { type ExtensionData, extensionData } from '@sluice/host/internal';
import { type Journal, memoryJournal } from '@sluice/journal';
import type { AddressedJournal } from '@sluice/journal/internal';
import { definedFields } from 'sluice-kernel/internal';
import { type JournalPlace, openPlace } from '../settings/journal-place.js';
import type { Settings } from '../settings/settings.js';

/**
 * The journal of a host, to which the timeline of its messages is written. It is disposed after the host, and after the extensions,
 * which may write to their stores until their end.
 */
export interface Persistence extends AsyncDisposable {
  readonly hostOptions: Pick<HostOptions, 'journal' | 'closesJournal' | 'store' | 'maxAttempts'>;
  /** The stores and folders of the extensions, which are set up before there is a host. */
  readonly extensionData: ExtensionData;
  /** Tells the other hosts that all of this one is there, if hosts may share the journal. */
  readonly announce?: AddressedJournal['announce'];
  /** The same for the inspector. */
  readonly inspected: { readonly place: JournalPlace } | { readonly journal: Journal };
}

/** Entries that a host without a file keeps for its inspector. */
const shownRows = 10_000;

/**
 * Opens the journal of the settings, if they name one. Without one everything is in memory.
 *
 * @param isInspected keeps entries in memory, too, so that there is something to see.
 *
 * @throws SluiceError (as a rejection) what `openPlace` throws.
 */
export async function openPersistence(
  settings: Pick<Settings, 'journal' | 'secrets' | 'stateDir' | 'place'>,
  timeline: TimelineRecorder,
  isInspected: boolean,
): Promise<Persistence> {
  const { journal: setting, secrets, stateDir, place } = settings;
  const { path: _path, url: _url, partitions: _partitions, ...own } = setting ?? {};
  const { leaseMs, listen, keepForMs, ...others } = own;
  const { keepBytes, maxAttempts, ...kept } = others;
  if (place === undefined) {
    const keepRows = isInspected ? shownRows : 0;
    const journal = memoryJournal({ acknowledge: 'ended', keepRows });
    if (isInspected) timeline.listen(keepTimeline(journal));
    const data = extensionData(journal, { stateDir });
    return {
      hostOptions: { journal },
      extensionData: data,
      inspected: { journal },
      [Symbol.asyncDispose]: async () => data[Symbol.dispose](),
    };
  }
  const { dispatches = true, ...written } = kept;
  const bounds = definedFields({ keepForMs, keepBytes, leaseMs, listen });
  const journal = await openPlace(place, { secrets, ...bounds });
  if (dispatches) timeline.listen(keepTimeline(journal, written));
  const data = extensionData(journal, { stateDir });
  return {
    extensionData: data,
    inspected: { place },
    ...('announce' in journal && { announce: journal.announce }),
    hostOptions: {
      journal,
      closesJournal: false,
      store: journal.store,
      ...definedFields({ maxAttempts }),
    },
    [Symbol.asyncDispose]: async () => {
      data[Symbol.dispose]();
      await journal.close();
    },
  };
}
