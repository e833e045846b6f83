import type { KeyValueReader, KeyValues } from '@sluice/sdk/extension';
import { definedFields } from 'sluice-kernel/internal';
import type { Ownership } from '../fence.js';
import type { Journal, JournalReader } from '../journal.js';
import { type Changing, type JournalTransaction, noteTending } from '../journal-changes.js';
import type { Scrub } from '../privacy/scrub.js';
import type { CleanText } from '../rows/clean-body.js';
import type { Store } from '../store.js';
import type { CommitQueue } from './commit-queue.js';
import { openTranscripts } from './open-transcripts.js';
import { type SessionReader, sessionStore } from './session-store.js';
import type { WaitingDispatches } from './waiting-dispatches.js';

/** The parts of a journal in a database. */
interface DatabaseJournalParts<At extends JournalTransaction> {
  readonly ownership: Ownership;
  readonly clean: CleanText;
  readonly scrub: Scrub | undefined;
  readonly commits: CommitQueue<At>;
  readonly waiting: WaitingDispatches;
  readonly changes: Pick<Journal, Changing>;
  readonly records: Omit<JournalReader, 'keyValues' | 'close'>;
  readonly values: KeyValueReader;
  readonly sessions: SessionReader;
  /** Is told of characters that are about to be written. */
  readonly grows?: (characters: number) => void;
  /** Differs from before after a change from outside. */
  readonly version: () => number;
  readonly problem: Journal['problem'];
  readonly close: () => Promise<void>;
}

/** Makes a journal of its parts: the same over each database. */
export function databaseJournal<At extends JournalTransaction>(
  parts: DatabaseJournalParts<At>,
): Journal & { readonly store: Store } {
  const { commits, waiting, changes, records, ownership, problem, grows = () => {} } = parts;
  const { tending, wasTended } = noteTending(changes);
  const keyValues = writtenKeyValues(parts.values, commits);
  const { scrub } = parts;
  const open = scrub && openTranscripts((run) => commits.later(run), keyValues, scrub);
  const counted = { accepted: 0, duplicates: 0 };
  let version = parts.version();
  let closed: Promise<void> | undefined;
  return {
    acknowledge: 'persisted',
    ...{ ownership, problem, ...records, ...changes, ...tending },
    store: sessionStore(commits, parts.sessions, parts.clean, open),
    keyValues,
    ...definedFields({ scrub }),
    accept: async (update, isBegun, mostOpen) => {
      grows(update.body?.length ?? 0);
      const accepted = await changes.accept(update, isBegun, mostOpen);
      counted[accepted.status === 'known' ? 'duplicates' : 'accepted']++;
      if (accepted.status === 'accepted') ownership.hint(update.slot ?? 0);
      return accepted;
    },
    ...(open && {
      endUpdate: async (fence, end) => {
        await open.ending(fence.eventId);
        return changes.endUpdate(fence, end);
      },
    }),
    prepare: (fence, send, isSending) => {
      grows(send.body.length);
      return changes.prepare(fence, send, isSending);
    },
    dispatched: (dispatch) => {
      waiting.add(dispatch);
      grows(dispatch.body.length);
    },
    dispatches: async (filter) => {
      await commits.settled(); // some may still wait
      return records.dispatches(filter);
    },
    changedOutside: () => {
      const before = version;
      version = parts.version();
      return wasTended() || version !== before;
    },
    stats: () => ({ ...counted, ...waiting.stats(), ...commits.times }),
    close: () => (closed ??= parts.close()),
  };
}

/** Makes key values whose changes are writes of a journal. */
export function writtenKeyValues<At extends Pick<JournalTransaction, 'values'>>(
  reader: KeyValueReader,
  commits: Pick<CommitQueue<At>, 'write' | 'later'>,
): KeyValues {
  return {
    get: (namespace, key) => reader.get(namespace, key),
    list: (namespace, given) => reader.list(namespace, given),
    namespaces: () => reader.namespaces(),
    write: (namespace, key, value, given) => {
      const { expected, quota, mayWait } = given;
      const hasBody = expected !== null && typeof expected === 'object';
      const needs = { value: { namespace, key, isCounted: quota !== undefined, hasBody } };
      const run = ({ values }: At) => values.write(namespace, key, value, given);
      return mayWait === true ? commits.later(run, needs) : commits.write(run, needs);
    },
    clear: (namespace) => commits.write(({ values }) => values.clear(namespace), { isAlone: true }),
  };
}
