import type { Clock } from '../../../kernel/index.js';
import type { Store } from '../../transcript/store.js';
import type { Journal } from '../journal.js';
import type { Retention } from './retention.js';

/** The options of opening a journal. */
export interface JournalOptions extends Retention {
  readonly clock?: Clock;
  /** Texts that no record may quote, such as the secrets of a config (spec §20.8). */
  readonly secrets?: readonly string[];
  /** The most pages of 4,096 bytes that the file may have, by default as many as the disk takes. */
  readonly maxPages?: number;
  /** Bytes of a file that are looked at before it is used, by default 32 MiB. A larger file is looked at meanwhile. */
  readonly wholeCheckBytes?: number;
}

/** A journal in a file, and the sessions beside it. */
export interface SqliteJournal extends Journal {
  readonly path: string;
  /** Sessions and transcripts, in the same file. */
  readonly store: Store;
}
