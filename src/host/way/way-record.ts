import type { MessageEnd, SendState } from '@sluice/journal';
import type { AuditRecord, Envelope, Outcome, OutcomeRecord } from 'sluice-kernel';

/** The fields of every fact. */
interface Fact {
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

/** A step of an update (durability §1): it was kept, begun, given back, left to the next host, or has ended. */
export interface UpdateFact extends Fact, Partial<Account> {
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
export interface LaneFact extends Fact {
  readonly kind: 'lane';
  readonly of: 'conversation' | 'session';
  readonly lane: string;
  readonly waitedMs: number;
}

/** A stage has ended. */
export interface DispatchFact extends Fact {
  readonly kind: 'dispatch';
  readonly outcome: OutcomeRecord & {
    readonly event: Envelope;
    /** The reason why a journal has it without its payloads. */
    readonly omitted?: string | undefined;
  };
}

/** An audited handler has settled (judgement §3.6). */
export interface AuditFact extends Fact {
  readonly kind: 'audit';
  readonly record: AuditRecord;
}

/** A question to a human was asked, or has its end. */
export interface QuestionFact extends Fact {
  readonly kind: 'question';
  /** `of` says whose question it is: that of a veto, or that of an extension. */
  readonly of: 'approval' | 'extension';
  readonly state: string;
  readonly title: string;
}

/** A step of a send. */
export interface SendFact extends Fact, Partial<Account> {
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
export interface AttemptFact extends Fact, Account {
  readonly kind: 'attempt';
  /** From 1 up. */
  readonly attempt: number;
  readonly status: string;
  readonly reason?: string;
  readonly durationMs: number;
}

/** Records that are missing here. */
export interface GapFact extends Fact {
  readonly kind: 'gap';
  readonly count: number;
  /** `dropped`: they could not be written. `gone`: they are older than the journal keeps, or damaged. */
  readonly why: 'dropped' | 'gone';
}

/**
 * One fact of the way of a message (sight §1): the closed union that everything that tells of a host is made of.
 *
 * @example
 * const slow = (fact: WayFact) => fact.kind === 'lane' && fact.waitedMs > 1_000;
 */
export type WayFact =
  | UpdateFact
  | LaneFact
  | DispatchFact
  | AuditFact
  | QuestionFact
  | SendFact
  | AttemptFact
  | GapFact;

/** A fact when it happens: that of a dispatch has the outcome itself, and that of an audit the event that it judged. */
export type LiveFact =
  | Exclude<WayFact, DispatchFact | AuditFact>
  | (DispatchFact & { readonly outcome: Outcome })
  | (AuditFact & { readonly event: Envelope });

/** A fact that a journal has kept, with its number there. */
export type WayRecord = WayFact & { readonly seq: number };

type Unstamped<F> = F extends LiveFact ? Omit<F, 'atMs'> & { readonly atMs?: number } : never;

/** A fact before it has its time: now, unless it names one. */
export type NewFact = Unstamped<Exclude<LiveFact, DispatchFact | AuditFact>>;
