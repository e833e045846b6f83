import { journalError } from '../../src/journal/errors.js';
import type { Journal, Store } from '../../src/journal/index.js';
import type { SluiceError } from '../../src/kernel/index.js';
import type { VirtualClock } from '../../src/testing/index.js';

/** A fault of a journal. It begins with one call, and ends by time. */
export interface JournalFault {
  /** The number of the call that it begins with, from 1 for the first since `begin`: a write or a reading of the journal or of the store. */
  readonly from: number;
  /** The calls that fail: this one, those of the same name, or all. */
  readonly of: 'call' | 'kind' | 'all';
  /** How long it lasts, by the clock. */
  readonly ms: number;
  /** A write that fails is made all the same: only its answer is lost. */
  readonly isMade: boolean;
  readonly code: 'database-busy' | 'database-io' | 'database-full';
}

/** The calls that fail of a journal, and of its store. */
const calls = [
  ...(['accept', 'begin', 'release', 'endUpdate', 'prepare', 'final', 'sending'] as const),
  ...(['unsent', 'shown', 'endSend', 'updates', 'sends'] as const),
];
const storeCalls = [
  ...(['loadSession', 'saveSession', 'appendMessage', 'readTranscript'] as const),
  ...(['transcriptSize'] as const),
];
const readings: readonly string[] = [
  ...['updates', 'sends', 'loadSession', 'readTranscript', 'transcriptSize', 'get', 'list'],
];

/** A journal and its store that fail as a script says, and are well before and after. */
export function failingJournal(
  journal: Journal,
  store: Store,
  clock: VirtualClock,
  fault: JournalFault,
) {
  let count = Number.NEGATIVE_INFINITY;
  let hit: string | undefined;
  let sinceMs: number | undefined;
  const error = () => journalError(fault.code, { path: 'test', problem: 'it is made to fail' });
  const isOn = (): boolean => sinceMs !== undefined && clock.monotonicMs() - sinceMs < fault.ms;
  const fails = (name: string): boolean => {
    count++;
    if (count === fault.from) {
      hit = name;
      sinceMs = clock.monotonicMs();
      return true;
    }
    if (fault.of === 'call' || !isOn()) return false;
    return fault.of === 'all' || name === hit;
  };
  type Call = (...given: never[]) => Promise<unknown>;
  const failing = <Name extends string>(
    of: { readonly [One in Name]: Call },
    names: readonly Name[],
  ): { readonly [One in Name]: Call } => {
    const made = names.map((name) => [
      name,
      async (...given: never[]) => {
        if (!fails(name)) return of[name](...given);
        if (fault.isMade && !readings.includes(name))
          await of[name](...given).catch(() => undefined);
        throw error();
      },
    ]);
    return Object.fromEntries(made); // each name is there
  };
  const problem = (): SluiceError | undefined =>
    fault.of === 'all' && isOn() ? error() : journal.problem();
  const keyValues = failing(journal.keyValues, ['get', 'write', 'clear', 'list']);
  return {
    journal: {
      ...{ ...journal, problem },
      ...failing(journal, calls),
      keyValues: { ...journal.keyValues, ...keyValues },
    } as Journal, // the calls are those of the journal
    store: { ...store, ...failing(store, storeCalls) } as Store, // as above
    /** The name of the call that the fault began with. */
    hit: () => hit,
    /** Counts the calls from now on. */
    begin: () => {
      count = 0;
    },
  };
}
