import type { FamilyName, Outcome, SluiceError } from '../../kernel/index.js';
import type { MessageEnd } from './message-end.js';

/**
 * Where an accepted update is. `accepted`: waiting. `handling`: begun, and not known to have ended. `ended`: done with.
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
  /** Milliseconds since 1970. */
  readonly receivedAtMs: number;
  /** As its channel gave it, in JSON; absent if it is larger than the journal keeps, or if the journal does not outlive its host. */
  readonly body?: string;
}

/** What is kept of an update. */
export interface UpdateRecord extends NewUpdate {
  /** Grows with each update; never goes back, whatever the clock does. */
  readonly seq: number;
  readonly state: UpdateState;
  /** How often it was begun. */
  readonly attempts: number;
  /**
   * As long as it is open: the number of the last send that it had when an operator had it tried again. Sends up to there
   * do not say how it ends.
   */
  readonly retriedAfterSeq?: number;
  readonly acceptedAtMs: number;
  readonly endedAtMs?: number;
  /** How its message ended. */
  readonly outcome?: MessageEnd['status'];
  readonly reason?: string;
}

/** How an update's message has ended. */
export interface UpdateEnd {
  /** It goes to the dead letters: its body is kept, and an operator may have it tried again. */
  readonly isDead: boolean;
  readonly outcome: MessageEnd['status'];
  readonly reason?: string;
}

/**
 * Where a send is. `prepared`: approved, and not given to its channel, or given back unsent. `sending`: with its channel,
 * which has not answered. The other three are terminal: a send reaches one of them, once.
 */
export type SendState = 'prepared' | 'sending' | 'sent' | 'cancelled' | 'failed';

/** A send that `egress.preparing` has judged. */
export interface NewSend {
  /** The event id of its `egress.preparing`, and its idempotency key. */
  readonly sendId: string;
  /** The message that it answers; absent where nobody asked. */
  readonly correlationId?: string;
  /** What it is: `reply`, `block`, `error`, ... */
  readonly kind: string;
  /** The same for sends that say the same. */
  readonly fingerprint: string;
  readonly channel?: string;
  readonly accountId?: string;
  /** The payload of its `egress.preparing` as it was emitted: JSON. */
  readonly body: string;
}

/** How a send has ended. */
export interface SendEndRecord {
  readonly state: Extract<SendState, 'sent' | 'cancelled' | 'failed'>;
  /** The provider's id of the message. */
  readonly providerMessageId?: string;
  /** Why it failed, as `egress.failed` names it; or the code of the cancel. */
  readonly cause?: string;
  /** In one line; for a cancel, whose it is. */
  readonly reason?: string;
}

/** What is kept of a send. */
export interface SendRecord extends NewSend, Omit<SendEndRecord, 'state'> {
  readonly seq: number;
  readonly state: SendState;
  /** Attempts that were given to the channel. */
  readonly attempts: number;
  readonly preparedAtMs: number;
  /** The note of what a streamed preview of it has shown at its provider, as `shown` was told: JSON of its channel's. */
  readonly shown?: string;
  readonly endedAtMs?: number;
}

/** A dispatch that has ended, as it is written. */
export interface NewDispatch {
  readonly eventId: string;
  readonly family: FamilyName;
  readonly correlationId: string;
  readonly sessionId: string | null;
  readonly status: Outcome['status'];
  /** Milliseconds since 1970. */
  readonly occurredAtMs: number;
  /** Why payloads are not in it. */
  readonly omitted?: 'hot-path' | 'too-large' | 'not-json';
  /** What `outcome.toJSON()` gives, without secrets; in `payload` only what differs from `event.payload`. JSON. */
  readonly body: string;
}

/** What is kept of a dispatch: enough to explain it, and to dispatch it again. */
export interface DispatchRecord extends NewDispatch {
  readonly seq: number;
}

/** Which records are wanted. Every condition holds; oldest first. */
export interface JournalFilter {
  readonly eventId?: string;
  readonly correlationId?: string;
  /** Of what was accepted, prepared or dispatched then or later: milliseconds since 1970. */
  readonly sinceMs?: number;
  /** Of those after this one. */
  readonly afterSeq?: number;
  /** At most so many, the oldest; 1 000 where unsaid. */
  readonly limit?: number;
}

/** Says which updates to read. */
export interface UpdateFilter extends JournalFilter {
  readonly states?: readonly UpdateState[];
  /** Of this lane. With states that have not ended it costs no more than what it gives. */
  readonly lane?: string;
  /** Their bodies are neither read nor given. */
  readonly withoutBody?: boolean;
}

/** Says which sends to read. */
export interface SendFilter extends JournalFilter {
  readonly states?: readonly SendState[];
}

/** Says which dispatches to read. */
export interface DispatchFilter extends JournalFilter {
  readonly family?: FamilyName;
}

/** Reads a journal. Reading changes nothing: twice gives the same. */
export interface JournalReader {
  /** `eventId` and `correlationId` are the same for an update. Bodies of updates that ended are gone. */
  updates(filter?: UpdateFilter): Promise<readonly UpdateRecord[]>;
  /** `eventId` is the send's id. */
  sends(filter?: SendFilter): Promise<readonly SendRecord[]>;
  dispatches(filter?: DispatchFilter): Promise<readonly DispatchRecord[]>;
  /** Lets go of what it holds, once what is under way is written. */
  close(): Promise<void>;
}

/** What a journal has counted since it was opened. */
export interface JournalStats {
  readonly accepted: number;
  /** Updates that came again. */
  readonly duplicates: number;
  readonly dispatches: number;
  /** Dispatches that were not kept: more of them came than may wait to be written, or writing them failed. */
  readonly dispatchesDropped: number;
  /** Characters of dispatches that wait to be written. */
  readonly charactersWaiting: number;
}

/**
 * What outlives a host: which updates it took in and how each ended, which sends it prepared and how each ended, and what
 * was dispatched. A promise that resolves means that it is kept; a rejection means that it is not, and the caller may
 * not go on as if it were.
 */
export interface Journal extends JournalReader {
  /**
   * Tells whether a later host goes on with what this journal keeps. If so, an update is acknowledged when it is kept, and may
   * be left to that host. If not, an update is acknowledged at its end, and the journal is given no body and no send
   * (durability §6.8).
   */
  readonly outlivesHost: boolean;
  /** Takes an update in, unless it is known: then nothing changes, and its state is told. */
  accept(
    update: NewUpdate,
  ): Promise<
    | { readonly status: 'accepted' }
    | { readonly status: 'known'; readonly state: UpdateState; readonly attempts: number }
  >;
  /**
   * Begins to handle an update.
   *
   * @returns how often it was begun, this time included.
   * @throws SluiceError (as a rejection) `journal-state` where it has ended or is not known.
   */
  begin(eventId: string): Promise<number>;
  /**
   * Takes a beginning back: its host stops in good order before the update has come to its end. It is begun one time fewer.
   *
   * @throws SluiceError (as a rejection) `journal-state` where it is not being handled.
   */
  giveBack(eventId: string): Promise<void>;
  /** Ends an update. @throws SluiceError (as a rejection) `journal-state` where it has ended or is not known. */
  endUpdate(eventId: string, end: UpdateEnd): Promise<void>;
  /** Keeps a send before anything of it goes out. */
  prepare(send: NewSend): Promise<void>;
  /**
   * The final of a stream has been judged: from now on this is what its send says, and where it goes.
   *
   * @throws SluiceError (as a rejection) `journal-state` where it is not `prepared`.
   */
  final(send: Omit<NewSend, 'correlationId'>): Promise<void>;
  /**
   * A send goes to its channel now. Called before each attempt.
   *
   * @throws SluiceError (as a rejection) `journal-state` where it has ended or is not known.
   */
  sending(sendId: string): Promise<void>;
  /** Its channel gave it back unsent, and it is to go out later. */
  unsent(sendId: string): Promise<void>;
  /**
   * Keeps what a streamed preview of a send has shown at its provider: enough for the next host to complete it or to take
   * it back, if this one ends first. Called whenever that changes; what was told last stands, also after the end.
   *
   * @param shown plain data of the channel as JSON: the ids of its messages, say.
   * @throws SluiceError (as a rejection) `journal-state` where it has ended or is not known.
   * @example
   * await journal.shown(sendId, JSON.stringify({ messageIds: [4711] }));
   */
  shown(sendId: string, shown: string): Promise<void>;
  /**
   * Ends a send, once.
   *
   * @throws SluiceError (as a rejection) `journal-state` where it has ended or is not known.
   */
  endSend(sendId: string, end: SendEndRecord): Promise<void>;
  /** Keeps a dispatch with the next write. Never fails: what cannot be kept is counted. */
  dispatched(dispatch: NewDispatch): void;
  /** Has a dead letter handled again, from its first attempt; `retriedAfterSeq` is kept. @returns whether it was one. */
  retry(eventId: string): Promise<boolean>;
  /** Drops dead letters: this one, or all. @returns how many. */
  purge(eventId?: string): Promise<number>;
  /** Whether anything was changed by somebody else since this was asked last: a retry, say. */
  changedOutside(): boolean;
  /** Why it takes nothing in now; `undefined` where what was written last is kept. A look costs some microseconds. */
  problem(): SluiceError | undefined;
  stats(): JournalStats;
}

/** The states of an update that has not ended. */
export const openUpdates = ['accepted', 'handling'] as const satisfies readonly UpdateState[];

/** The states of a send that has not ended. */
export const openSends = ['prepared', 'sending'] as const satisfies readonly SendState[];

/** Records that a reader gives where its filter does not say. */
export const defaultLimit = 1_000;
