import type { Forgotten, Whose } from '../forget/forget-texts.js';
import type { Journal, JournalReader } from '../journal.js';
import type { TendedJournal } from '../sqlite/open-journal.js';
import type { JournalOptions } from '../sqlite/sqlite-journal.js';
import type { Store } from '../store.js';

/**
 * A kind of journals that are found by an address, beside those in a file. The command line is handed those that it is to know, as
 * data.
 */
export interface JournalKind {
  /** The database that keeps them, as messages name it. */
  readonly name: string;
  /** The schemes of their addresses, without the colon. Messages name the first. */
  readonly schemes: readonly [string, ...string[]];
  /** Opens the journal of a host. */
  open(at: JournalAddress, terms: JournalTerms): Promise<AddressedJournal>;
  /** Opens a journal to read it. A host may use it meanwhile. */
  read(at: JournalAddress): Promise<JournalReader & AsyncDisposable>;
  /** Opens a journal to look after it. A host may use it meanwhile. */
  tend(at: JournalAddress): Promise<TendedJournal>;
  /** Reads the hosts that have a journal, the oldest first. */
  hosts(at: JournalAddress): Promise<readonly JournalHost[]>;
  /** Removes the texts of a sender or a conversation, as `forgetInFile` does. */
  forget(...given: [JournalAddress, Whose, isDry: boolean, AbortSignal]): Promise<Forgotten>;
  /** Makes the tables of a journal, or brings them up to this version. */
  migrate(at: JournalAddress): Promise<JournalMigration>;
}

/** An address with all that a kind needs to get there. */
export interface JournalAddress {
  readonly url: string;
  /** The parts that hosts share. */
  readonly partitions: number;
  /**
   * Imports a package that the user has installed for it.
   *
   * @param what begins the sentence of the error that it is not there: "the connection is".
   */
  readonly load: <Package>(name: string, what: string) => Promise<Package>;
}

/** The terms on which a host has a journal at an address. */
export interface JournalTerms
  extends Pick<JournalOptions, 'secrets' | 'scrub' | 'keepForMs' | 'signal' | 'record'> {
  /** Milliseconds for which a host that is not heard of keeps it. */
  readonly leaseMs?: number;
  /** Hosts that share it tell each other of their work. */
  readonly listen?: boolean;
}

/** A journal at an address, and the sessions beside it. */
export interface AddressedJournal extends Journal {
  readonly store: Store;
  /** Tells the hosts that share the journal of this one: each part of its set-up, with a version or a digest. */
  announce(about: () => Readonly<Record<string, string>>): Promise<void>;
}

/** A host of a journal, as the others see it. */
export interface JournalHost {
  readonly hostId: string;
  /** Milliseconds since 1970 by the clock of the database. */
  readonly sinceMs: number;
  /** Milliseconds until its lease ends, unless it is renewed; negative if it has ended. */
  readonly leaseForMs: number;
  readonly parts: readonly number[];
  /** The accepted messages of its parts that it has not begun. */
  readonly waiting: number;
  /** Milliseconds since the oldest of them was accepted, by the clock of the host that heard it; 0 if there is none. */
  readonly oldestWaitingMs: number;
  /** Its set-up as it has announced it: each part with a version or a digest. Empty: it has not. */
  readonly about: Readonly<Record<string, string>>;
}

/** The work of a migration. */
export interface JournalMigration {
  /** The version before; 0 if there were no tables. */
  readonly from: number;
  readonly to: number;
}
