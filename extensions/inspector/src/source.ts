import type { Host, Journal, JournalReader } from 'sluice/host';

/** The answer to a question, as an operator gives it. */
export interface GivenAnswer {
  readonly id: string;
  readonly state: 'allowed' | 'denied';
  readonly reason?: string;
  readonly always?: string;
}

/** Dispatches of the journal that are to be dispatched again, without effects. */
export interface ReplayRequest {
  /** The one dispatch; absent for the last ones of a family. */
  readonly eventId?: string;
  readonly family?: string;
  /** How many of the family, the newest. */
  readonly last?: number;
  /** Takes the place of the payload of the one dispatch. */
  readonly payload?: Readonly<Record<string, unknown>>;
}

/** A dispatch that was dispatched again. */
export interface ReplayedRow {
  readonly eventId: string;
  readonly family: string;
  readonly was: string;
  /** Absent if it could not be dispatched again; `notReplayed` says why. */
  readonly is?: string;
  readonly notReplayed?: string;
  readonly differences: readonly { readonly about: string; readonly what: string }[];
}

/** The result of a replay. */
export interface ReplayReport {
  readonly rows: readonly ReplayedRow[];
  /** Effects that extensions tried, and errors of loading. */
  readonly notes: readonly string[];
}

/** The part of a running host that the page shows and controls. */
export type InspectedHost = Pick<
  Host,
  'kernel' | 'health' | 'extensions' | 'reload' | 'abortTurns'
>;

/**
 * All that an inspector reads and does. `sluice inspect` and `sluice run --inspect` make one; a program of your own can, too.
 *
 * @example
 * const source: InspectorSource = { name: 'sluice.db', reader: await readJournal('./sluice.db') };
 */
export interface InspectorSource {
  /** Stands in the title of the page. */
  readonly name: string;
  readonly reader: Pick<JournalReader, 'updates' | 'sends' | 'dispatches' | 'counts'> &
    Partial<Pick<JournalReader, 'keyValues'>>;
  /** Looks after dead letters; absent if the journal is open to be read only. */
  readonly tended?: Pick<Journal, 'retry' | 'purge'>;
  /** The running host; absent if the page shows a journal alone. */
  readonly host?: InspectedHost;
  /** The questions to humans, each with the `fields` of its data. */
  readonly approvals?: {
    list(): Promise<readonly object[]>;
    answer(answer: GivenAnswer): Promise<void>;
  };
  /** The catalog with the loaded handlers: a line of `sluice stages --json` each. */
  readonly stages?: () => Promise<readonly object[]>;
  /** The findings of `sluice doctor --json`. */
  readonly findings?: () => Promise<readonly object[]>;
  /** Dispatches again what the journal holds, as `sluice replay --journal` does. */
  readonly replay?: (request: ReplayRequest) => Promise<ReplayReport>;
}
