import { keepTimeline, type TimelineRecorder } from '@sluice/host';
import { extensionData } from '@sluice/host/internal';
import { memoryJournal } from '@sluice/journal';
import type { AddressedJournal, Scrub } from '@sluice/journal/internal';
import type { Logger } from 'sluice-kernel';
import { definedFields, oneLine } from 'sluice-kernel/internal';
import { openPlace } from '../settings/journal-place.js';
import type { Settings } from '../settings/settings.js';

/** The parts that the journal of a host works with. */
interface PersistenceParts {
  readonly scrub?: Scrub | undefined;
  readonly signal?: AbortSignal;
  readonly logger: Logger;
}

/** Entries that a host without a file keeps for its inspector. */
const shownRows = 10_000;

/**
 * Opens the journal of the settings, and writes the timeline of messages to it. If they name none, everything is in memory: the
 * timeline, too, if an inspector shows it. It is disposed after the host, and after the extensions, which may write to their stores
 * until their end.
 *
 * @throws SluiceError (as a rejection) what `openPlace` throws.
 */
export async function openPersistence(
  { journal: setting = {}, secrets, stateDir, place, inspect }: Settings,
  timeline: TimelineRecorder,
  { scrub, signal, logger }: PersistenceParts,
) {
  const { leaseMs, listen, keepForMs, keepBytes, scrub: _, dispatches = true, ...rest } = setting;
  const { record: wanted, ...shown } = rest;
  const record = wanted && {
    ...{ keyFile: wanted.key, ...definedFields({ checkpointFile: wanted.checkpoints }) },
    onFailure: (error: unknown) =>
      logger.error('a checkpoint of the record is missing', { detail: oneLine(error) }),
  };
  let versions = (_extensionId: string): string | undefined => undefined;
  const kept = { ...shown, ...(record && { versions: (id: string) => versions(id) }) };
  const isInspected = inspect !== undefined;
  const opened =
    place === undefined
      ? memoryJournal({ acknowledge: 'ended', keepRows: isInspected ? shownRows : 0 })
      : await openPlace(place, {
          secrets,
          ...definedFields({ keepForMs, keepBytes, leaseMs, listen, scrub, signal, record }),
        });
  if (place === undefined ? isInspected : dispatches) timeline.listen(keepTimeline(opened, kept));
  const { announce }: Partial<AddressedJournal> = opened;
  const data = extensionData(opened, { stateDir });
  return {
    journal: { ...shown, opened, closes: false },
    /** Says which version of an extension has judged, for the record. */
    nameVersions: (of: typeof versions) => {
      versions = of;
    },
    /** The stores and folders of the extensions, which are set up before there is a host. */
    extensionData: data,
    /** Tells the other hosts that all of this one is there, if hosts may share the journal. */
    announce,
    [Symbol.asyncDispose]: async () => {
      data[Symbol.dispose]();
      await opened.close();
    },
  };
}
