import type { MatchIndex } from '../../match/match-index.js';
import type { ShapeFinder } from '../../merge/copy.js';
import type { Merge } from '../../merge/merge.js';
import type { AuditRecord } from '../../outcome/audit.js';
import type { Envelope, Upstream } from '../../outcome/envelope.js';
import type { Author, Failure, Outcome } from '../../outcome/outcome.js';
import type { Clock, IdSource, Logger } from '../../stage/ports.js';
import type { Stage } from '../../stage/stage.js';
import type { CallbackPairs } from './callbacks.js';
import type { Deadlines } from './deadlines.js';
import type { InFlight } from './in-flight.js';
import type { Quarantine } from './quarantine.js';

/** The place of a failure, or of a late result. */
export interface Place {
  readonly family: string;
  readonly eventId: string;
}

/** A result that came after nobody waited for it any more. Its value is never used. */
export interface Late extends Author, Place {
  readonly settled: 'fulfilled' | 'rejected';
  /** The reason of the rejection. */
  readonly error?: unknown;
}

/** The events that an operator may listen to. A tap that throws is logged and changes nothing. */
export interface Tap {
  /** Asks for the steps of each outcome, as `trace` of a kernel's options does. */
  readonly trace?: true;
  /** Every dispatch, when it ends. */
  readonly outcome?: (outcome: Outcome) => void;
  /** Every failure, when it happens; for detached observers this is the only report. */
  readonly failure?: (failure: Failure, place: Place) => void;
  readonly late?: (late: Late) => void;
  /** Each call of an audited handler, when it has settled: that may be after the outcome (judgement §3.3). */
  readonly audit?: (record: AuditRecord, event: Envelope) => void;
}

/** A tap that listens. */
export interface TapEntry {
  readonly tap: Tap;
  /** The one that it belongs to, for the log. */
  readonly extensionId?: string | undefined;
}

/** The taps of a kernel, in the order in which they came. */
export class Taps {
  /** Absent where nobody listens: then nothing is paid. */
  entries: readonly TapEntry[] | undefined;
  /** One of them wants to see each outcome. */
  isWatched = false;
  /** One of them asks for the steps of each outcome. */
  isTraced = false;

  add(entry: TapEntry): Disposable {
    this.#set([...(this.entries ?? []), entry]);
    return {
      [Symbol.dispose]: () => this.#set((this.entries ?? []).filter((one) => one !== entry)),
    };
  }

  #set(entries: readonly TapEntry[]): void {
    this.entries = entries.length === 0 ? undefined : entries;
    this.isWatched = entries.some(({ tap }) => tap.outcome !== undefined);
    this.isTraced = entries.some(({ tap }) => tap.trace === true);
  }
}

/** The counts of a kernel since it was created. */
export class Counters {
  dispatches = 0;
  passed = 0;
  cancelled = 0;
  failed = 0;
  handlerCalls = 0;
  failedOpen = 0;
  failedClosed = 0;
  late = 0;
  /** Failures outside of any dispatch that were laid at an extension's door. */
  stray = 0;
  /** Calls of audited handlers that have settled. */
  audits = 0;
  /** Those among them that would have cancelled or asked. */
  auditObjections = 0;
  /** Those among them that failed. */
  auditFailures = 0;
  quarantines = 0;
  trials = 0;
  payloadsFrozen = 0;
  envelopesMade = 0;
  plansBuilt = 0;
  /** Of handlers, to sort them. */
  comparisons = 0;
}

/** A timed-out or aborted handler that has not settled yet. */
export interface StillRunning extends Author {
  readonly family: string;
  /** On the monotonic clock: when its time was up. */
  readonly sinceMs: number;
}

/** A stage's merges, compiled when they are first needed. */
export interface StageMerges {
  readonly patch: Merge;
  readonly annotations: Merge;
  /** The payloads that were patched. */
  readonly shapes: ShapeFinder;
  /** Why a selection target does not fit the stage's schema, or nothing. */
  readonly misfit: (target: unknown) => string | undefined;
}

/** The parts of its kernel that a dispatch needs. */
export interface Services {
  /** The kernel, as others hold it. */
  readonly surface: object | undefined;
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly logger: Logger;
  readonly taps: Taps;
  readonly trace: boolean;
  readonly deadlines: Deadlines;
  readonly callbacks: CallbackPairs;
  readonly inFlight: InFlight;
  readonly counters: Counters;
  readonly stillRunning: Set<StillRunning>;
  /** Absent where it is switched off. */
  readonly quarantine: Quarantine | undefined;
  /** Freezes each call as well, so that a handler cannot hang something on it for the next to find. */
  readonly strict: boolean;
  /** Makes the index of a plan with matches. Absent where no contribution has one. */
  readonly MatchIndex: typeof MatchIndex | undefined;
  merges(family: string): StageMerges;
  /** The handlers of a family; nothing if another than they sees its dispatches, or if it takes none any more. */
  planUnwatched(family: string): { readonly stage: Stage; readonly size: number } | undefined;
  nest(
    parent: { readonly downstream: Upstream; readonly depth: number },
    author: Author,
    family: string,
    payload: object,
  ): Outcome | Promise<Outcome>;
}
