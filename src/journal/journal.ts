import type { KeyValueReader, KeyValues } from '@sluice/sdk/extension';
import type { FamilyName, Outcome, SluiceError } from 'sluice-kernel';
import type { EntryKind, RecordMark } from './entry-kinds.js';
import type { Fence, Ownership, UpdateFence } from './fence.js';
import type { JournalCounts, JournalStats } from './journal-counts.js';
import type { MessageEnd } from './message-end.js';
import type { Scrub } from './privacy/scrub.js';

/**
 * The state of an accepted update. `accepted`: it waits. `handling`: it was begun, and has not ended. `ended`: it is done with.
 * `dead`: it could not be handled, and waits for an operator.
 */
export type UpdateState = 'accepted' | 'handling' | 'ended' | 'dead';

/** An update as its channel got it. */
export interface NewUpdate {
  /** The same whenever the same update comes: see `eventIdOf`. */
  readonly eventId: string;
  readonly channel: string;
  readonly accountId: string;
  readonly updateId?: string;
  /** The key of the lane that it is handled in, as its host writes it: updates of one conversation have the same. */
  readonly lane?: string;
  /** The slot that the lane is of: see `slotOf`. 0 if absent. */
  readonly slot?: number;
  /** Milliseconds since 1970. */
  readonly receivedAtMs: number;
  /** As its channel gave it, in JSON; absent if it is larger than the journal keeps, or if the update is acknowledged at its end. */
  readonly body?: string;
}

/** The record of an update. */
export interface UpdateRecord extends NewUpdate {
  /** Grows with each update; never goes back, whatever the clock does. */
  readonly seq: number;
  readonly state: UpdateState;
  /** The number of times that it was begun. */
  readonly attempts: number;
  /**
   * As long as it is open: the number of the last send that it had when an operator had it tried again. Sends up to there
   * do not say how it ends.
   */
  readonly retriedAfterSeq?: number;
  /** As long as it is open: the event id of the update that it joined, whose turn answers it (durability §10.5). */
  readonly joinedTo?: string;
  readonly acceptedAtMs: number;
  readonly endedAtMs?: number;
  /** The end of its message. */
  readonly outcome?: MessageEnd['status'];
  readonly reason?: string;
  /** When the text of a dead letter was changed (durability §13.3). */
  readonly scrubbedAtMs?: number;
}

/** The end of an update's message. */
export interface UpdateEnd {
  /** It goes to the dead letters: its body is kept, and an operator may have it tried again. */
  readonly isDead: boolean;
  readonly outcome: MessageEnd['status'];
  readonly reason?: string;
}

/**
 * The state of a send. `prepared`: approved, and not given to its channel, or given back unsent. `sending`: with its channel,
 * which has not answered. The other three are terminal: a send reaches one of them, once.
 */
export type SendState = 'prepared' | 'sending' | 'sent' | 'cancelled' | 'failed';

/** A send that `egress.preparing` has judged. */
export interface NewSend {
  /** The event id of its `egress.preparing`, and its idempotency key. */
  readonly sendId: string;
  /** The message that it answers; absent if nobody asked. */
  readonly correlationId?: string;
  /** Its kind: `reply`, `block`, `error`, ... */
  readonly kind: string;
  /** The same for sends that say the same. */
  readonly fingerprint: string;
  readonly channel?: string;
  readonly accountId?: string;
  /** The payload of its `egress.preparing` as it was emitted: JSON. */
  readonly body: string;
}

/** The end of a send. */
export interface SendEndRecord {
  readonly state: Extract<SendState, 'sent' | 'cancelled' | 'failed'>;
  /** The provider's id of the message. */
  readonly providerMessageId?: string;
  /** The cause of a failure, as `egress.failed` names it; or the code of the cancel. */
  readonly cause?: string;
  /** The reason in one line; of a cancel, its author. */
  readonly reason?: string;
  /** The payload that `egress.preparing` has passed, if it differs: it takes the place of the one that was emitted. */
  readonly body?: string;
}

/** The record of a send. */
export interface SendRecord extends NewSend, Omit<SendEndRecord, 'state' | 'body'> {
  readonly seq: number;
  /** The slot of the fence that it was prepared under; 0 if absent. */
  readonly slot?: number;
  readonly state: SendState;
  /** The attempts that were given to the channel. */
  readonly attempts: number;
  readonly preparedAtMs: number;
  /** The note of what a streamed preview of it has shown at its provider, as `shown` was told: JSON of its channel's. */
  readonly shown?: string;
  readonly endedAtMs?: number;
}

/** A dispatch that has ended, as it is written. */
export interface NewDispatch {
  readonly eventId: string;
  /** Of a record that is of no family: its kind. */
  readonly family: string;
  readonly correlationId: string;
  readonly sessionId: string | null;
  readonly status: Outcome['status'];
  /** Milliseconds since 1970. */
  readonly occurredAtMs: number;
  /** The reason why its payloads are left out; or its kind, if it is no record of a dispatch. */
  readonly omitted?: 'hot-path' | 'too-large' | 'not-json' | 'forgotten' | RecordMark;
  /** The `outcome.toJSON()` as JSON, without secrets; `payload` is there only if it differs from `event.payload`. */
  readonly body: string;
  readonly proof?: string; // of the journal alone: its place in a chain (record §1)
}

/** The record of a dispatch: enough to explain it, and to dispatch it again. */
export interface DispatchRecord extends NewDispatch {
  readonly seq: number;
}

/** The conditions for records, all of which must hold. The oldest record comes first. */
export interface JournalFilter {
  readonly eventId?: string;
  readonly correlationId?: string;
  /** Records that were accepted, prepared or dispatched then or later: milliseconds since 1970. */
  readonly sinceMs?: number;
  /** Only records whose number is less than this below the number of the last one: a look of bounded cost at the newest. */
  readonly withinLast?: number;
  /** Records after this one. */
  readonly afterSeq?: number;
  /** At most so many records, the oldest; by default 1 000. */
  readonly limit?: number;
}

/** Says which updates to read. */
export interface UpdateFilter extends JournalFilter {
  readonly states?: readonly UpdateState[];
  /** Updates of this lane. With states that have not ended it costs no more than the records that it returns. */
  readonly lane?: string;
  /** Updates of these partitions, if the journal is shared. */
  readonly parts?: readonly number[];
  /** Leaves the bodies out. */
  readonly withoutBody?: boolean;
}

/** Says which sends to read. */
export interface SendFilter extends JournalFilter {
  readonly states?: readonly SendState[];
}

/** Says which dispatches to read. */
export interface DispatchFilter extends JournalFilter {
  readonly family?: FamilyName;
  /** The records of these kinds: of dispatches alone, if absent. Each `body` is as `timelineEntry` reads it. */
  readonly kinds?: readonly EntryKind[];
}

/** Reads a journal. Reading changes nothing: twice gives the same. */
export interface JournalReader {
  /** `eventId` and `correlationId` are the same for an update. Bodies of updates that ended are gone. */
  updates(filter?: UpdateFilter): Promise<readonly UpdateRecord[]>;
  /** `eventId` is the send's id. */
  sends(filter?: SendFilter): Promise<readonly SendRecord[]>;
  dispatches(filter?: DispatchFilter): Promise<readonly DispatchRecord[]>;
  /** Costs more with each row that has not ended, and nothing for those that have. */
  counts(): Promise<JournalCounts>;
  /** The stores of extensions, and the host's own state beside them. */
  readonly keyValues: KeyValueReader;
  /** Closes the journal when the writes under way have ended. */
  close(): Promise<void>;
}

/**
 * The memory that outlives a host: the updates that it took in with their ends, the sends that it prepared with their ends, and
 * the dispatches. A promise that resolves means that the record is persisted; a rejection means that it is not, and the caller may
 * not go on as if it were.
 */
export interface Journal extends JournalReader {
  /**
   * When its host acknowledges an update (durability §6.8). `persisted`: as soon as the journal has it, since a later host goes on with
   * what the journal keeps. `ended`: at its end, since no later host reads the journal; then the journal is given no body and no send.
   */
  readonly acknowledge: 'persisted' | 'ended';
  readonly keyValues: KeyValues;
  /** The partitions of the lanes that this host handles. */
  readonly ownership: Ownership;
  /** Aborts when another host has taken it over, with the error as its reason: this host stops then. Absent if none can. */
  readonly lost?: AbortSignal;
  /** The file, if it is in one. */
  readonly path?: string;
  /** Cleans texts that are kept elsewhere, too (durability §13); absent if nothing is scrubbed. */
  readonly scrub?: Scrub;
  /**
   * Takes an update in, unless it is known: then nothing changes, and its state is told.
   *
   * @param isBegun it is handled at once: the same write begins it, if its lane is of a partition of this host and has no open
   *   update of another one. Then there is a `fence`.
   * @param mostOpen if so many updates of its lane are `open` already, it is `full`: the same write makes it a dead letter.
   */
  accept(
    update: NewUpdate,
    isBegun?: boolean,
    mostOpen?: number,
  ): Promise<
    | { readonly status: 'accepted'; readonly fence?: UpdateFence; readonly open?: number }
    | { readonly status: 'full' }
    | { readonly status: 'known'; readonly state: UpdateState; readonly attempts: number }
  >;
  /**
   * Begins to handle an update.
   *
   * @param joined the event ids of updates that join it: the same write gives them `joinedTo`. They were never begun.
   * @param attempt the number of this attempt: if a try before it had no answer, it counts once.
   * @returns the number of times that it was begun, with this one, and the hold for all that is written for it.
   * @throws SluiceError (as a rejection) `journal-state` if it, or one that joins it, has ended or is not known; `journal-lost`, as
   *   each write under a fence, if this host has not the partition of its lane.
   */
  begin(
    eventId: string,
    joined?: readonly string[],
    attempt?: number,
  ): Promise<{ readonly attempts: number; readonly fence: UpdateFence }>;
  /**
   * Takes a beginning back: its host stops in good order before the update has come to its end. It is begun one time fewer.
   *
   * @throws SluiceError (as a rejection) `journal-state` if it is not being handled.
   */
  release(fence: UpdateFence): Promise<void>;
  /** Ends an update. @throws SluiceError (as a rejection) `journal-state` if it has ended or is not known. */
  endUpdate(fence: UpdateFence, end: UpdateEnd): Promise<void>;
  /**
   * Keeps a send before anything of it goes out.
   *
   * @param isSending it goes to its channel as soon as it is persisted: the same write does what `sending` does.
   */
  prepare(fence: Fence, send: NewSend, isSending?: boolean): Promise<void>;
  /**
   * Takes the judged final of a stream: from now on it is the text and the address of the send.
   *
   * @param isSending as for `prepare`.
   * @throws SluiceError (as a rejection) `journal-state` if the send is not `prepared`.
   */
  final(fence: Fence, send: Omit<NewSend, 'correlationId'>, isSending?: boolean): Promise<void>;
  /** A send goes to its channel now: called before each attempt. @throws as `endSend`. */
  sending(fence: Fence, sendId: string): Promise<void>;
  /** Takes a send back that its channel released unsent, and that is to go out later. */
  unsent(fence: Fence, sendId: string): Promise<void>;
  /**
   * Keeps a note of the preview of a send at its provider: enough for the next host to complete the preview or to take
   * it back, if this host ends first. Called whenever that changes; the last note stands, also after the end.
   *
   * @param shown plain data of the channel as JSON, such as the ids of its messages. Without it the note stays, and the fence is checked.
   * @throws SluiceError (as a rejection) `journal-state` where it has ended or is not known.
   * @example
   * await journal.shown(hold, sendId, JSON.stringify({ messageIds: [4711] }));
   */
  shown(fence: Fence, sendId: string, shown?: string): Promise<void>;
  /**
   * Ends a send, once.
   *
   * @throws SluiceError (as a rejection) `journal-state` where it has ended or is not known.
   */
  endSend(fence: Fence, sendId: string, end: SendEndRecord): Promise<void>;
  /** Keeps a dispatch with the next write. Never fails: what cannot be persisted is counted. */
  dispatched(dispatch: NewDispatch): void;
  /** Has a dead letter handled again, with those that had joined it. @returns whether it was one. @throws `letter-scrubbed`. */
  retry(eventId: string): Promise<boolean>;
  /** Drops dead letters: this one, or all. @returns how many. */
  purge(eventId?: string): Promise<number>;
  /** Returns whether somebody but the host has changed anything since the last call: a retry, say, also one of this process. */
  changedOutside(): boolean;
  /** The reason why it takes nothing in now; `undefined` if the last write is persisted. A look costs some microseconds. */
  problem(): SluiceError | undefined;
  stats(): JournalStats;
}

/** The states of an update that has not ended. */
export const openUpdates = ['accepted', 'handling'] as const satisfies readonly UpdateState[];

/** The states of a send that has not ended. */
export const openSends = ['prepared', 'sending'] as const satisfies readonly SendState[];

export const defaultLimit = 1_000; // records that a reader returns

/** Returns whether a state is one of these. */
export const isOneOf = (states: readonly string[], state: string): boolean =>
  states.includes(state);
