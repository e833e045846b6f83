import type { MessageEnd, SendState } from '@sluice/journal';
import type { AuditRecord, Envelope, Outcome, OutcomeRecord } from 'sluice-kernel';

/** The fields of every entry. */
interface EntryBase {
  /** The event id of the message that it belongs to. */
  readonly correlationId: string;
  /** The thing that it is about: an event, a send, a question. */
  readonly id: string;
  /** The thing that it is a part of, if that is not the message: the send of an attempt, the dispatch of an audit. */
  readonly parentId?: string;
  /** Milliseconds since 1970. */
  readonly atMs: number;
}

/** The place of a message or a send. */
interface Account {
  readonly channel: string;
  readonly accountId: string;
}

/** A step of an update (durability §1): it was persisted, begun, released, left to the next host, or has ended. */
export interface UpdateEntry extends EntryBase, Partial<Account> {
  readonly kind: 'update';
  readonly state: 'accepted' | 'begun' | 'given-back' | 'left' | 'ended' | 'dead';
  /** If it has ended: how, for which agent and session, and why. */
  readonly outcome?: MessageEnd['status'];
  readonly agentId?: string;
  readonly sessionKey?: string;
  readonly reason?: string;
  /** If it has begun: how often by now, over restarts. */
  readonly attempt?: number;
  /** The message that it joined, whose turn answers it. */
  readonly joinedTo?: string;
}

/** The turn of a message in a lane has come. */
export interface LaneEntry extends EntryBase {
  readonly kind: 'lane';
  readonly of: 'conversation' | 'session';
  readonly lane: string;
  readonly waitedMs: number;
}

/** A stage has ended. */
export interface DispatchEntry extends EntryBase {
  readonly kind: 'dispatch';
  readonly outcome: OutcomeRecord & {
    readonly event: Envelope;
    /** The reason why a journal has it without its payloads. */
    readonly omitted?: string | undefined;
  };
}

/** An audited handler has settled (judgement §3.6). */
export interface AuditEntry extends EntryBase {
  readonly kind: 'audit';
  readonly record: AuditRecord;
}

/** A question to a human was asked, or has its end. */
export interface QuestionEntry extends EntryBase {
  readonly kind: 'question';
  /** `of` says whose question it is: that of a veto, or that of an extension. */
  readonly of: 'approval' | 'extension';
  readonly state: string;
  readonly title: string;
}

/** A step of a send. */
export interface SendEntry extends EntryBase, Partial<Account> {
  readonly kind: 'send';
  readonly state: SendState;
  /** `reply`, `block`, `error`, ... */
  readonly sendKind: string;
  readonly attempts?: number;
  /** The code of a cancel, or the cause of a failure. */
  readonly cause?: string;
  readonly reason?: string;
}

/** A channel has answered an attempt to send. */
export interface AttemptEntry extends EntryBase, Account {
  readonly kind: 'attempt';
  /** From 1 up. */
  readonly attempt: number;
  readonly status: string;
  readonly reason?: string;
  readonly durationMs: number;
}

/** Records that are missing here. */
export interface GapEntry extends EntryBase {
  readonly kind: 'gap';
  readonly count: number;
  /** `dropped`: they could not be written. `gone`: they are older than the journal keeps, or damaged. */
  readonly why: 'dropped' | 'gone';
}

/**
 * One entry of the timeline of a message (sight §1): the closed union that everything that tells of a host is made of.
 *
 * @example
 * const slow = (entry: EntryContent) => entry.kind === 'lane' && entry.waitedMs > 1_000;
 */
export type EntryContent =
  | UpdateEntry
  | LaneEntry
  | DispatchEntry
  | AuditEntry
  | QuestionEntry
  | SendEntry
  | AttemptEntry
  | GapEntry;

/** An entry when it happens: that of a dispatch has the outcome itself, and that of an audit the event that it judged. */
export type LiveEntry =
  | Exclude<EntryContent, DispatchEntry | AuditEntry>
  | (DispatchEntry & { readonly outcome: Outcome })
  | (AuditEntry & { readonly event: Envelope });

/** An entry that a journal has persisted, with its number there. */
export type TimelineEntry = EntryContent & { readonly seq: number };

type Unstamped<F> = F extends LiveEntry ? Omit<F, 'atMs'> & { readonly atMs?: number } : never;

/** An entry before it has its time: now, unless it names one. */
export type NewEntry = Unstamped<Exclude<LiveEntry, DispatchEntry | AuditEntry>>;
