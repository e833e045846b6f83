import type { Clock } from '../../../kernel/index.js';
import type { Store } from '../../transcript/store.js';
import type { Journal } from '../journal.js';
import type { Retention } from './retention.js';

/** How a journal is opened. */
export interface JournalOptions extends Retention {
  readonly clock?: Clock;
  /** Texts that are never written where a record quotes them: what a config takes from the environment, say (spec §20.8). */
  readonly secrets?: readonly string[];
  /** The most pages of 4,096 bytes that the file may have; as many as the disk takes where unsaid. */
  readonly maxPages?: number;
  /** Bytes of a file that are looked at before it is used; 32 MiB where unsaid. A larger one is looked at meanwhile. */
  readonly wholeCheckBytes?: number;
}

/** A journal in a file, and the sessions beside it. */
export interface SqliteJournal extends Journal {
  readonly path: string;
  /** Sessions and transcripts, in the same file. */
  readonly store: Store;
}
