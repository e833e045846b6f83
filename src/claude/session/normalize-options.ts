import type { SubagentFact } from '@sluice/sdk/stream';
import type { Clock, Logger } from 'sluice-kernel';
import type { CsdkCallback } from '../frames/callback.js';
import type { SessionDiagnostic } from './session-diagnostic.js';

/** Options of `normalizeSession`. Each may be left out. */
export interface NormalizeOptions {
  /**
   * The calls of the SDK to its host: permission requests and hooks. They are merged with the frames in the
   * order of arrival. A source that never ends does not block the run's end; one that fails is told to
   * `onDiagnostic`, and the run goes on without it.
   */
  readonly callbacks?: AsyncIterable<CsdkCallback>;
  /**
   * When a tool call that a message holds is announced: as soon as its block is complete (`block`, the default), or
   * after its message's end (`messageEnd`, Pi's order). With `messageEnd` a call that shows signs of running
   * before that (progress, a result) is announced then.
   */
  readonly toolStart?: 'block' | 'messageEnd';
  /** A subagent's output becomes updates of the call that started it (`nest`, the default), or nothing (`drop`). */
  readonly subagents?: 'nest' | 'drop';
  /**
   * When the run ends. `idle` (the default): when the session says that it is idle and no task is left in the background. If the
   * session says nothing of its state, at a result that leaves no task and no queued turn behind, and after which no turn that
   * tells of a task may follow. `firstResult`: at the first result of its own. In either case a result of another origin, or of no
   * turn, is passed over (csdk §7), and the run ends with the stream.
   */
  readonly end?: 'firstResult' | 'idle';
  /**
   * How long to wait after a result for the next turn to begin if something goes on, in milliseconds of `clock`. 60 seconds,
   * unless given. If nothing goes on, a turn that may follow at once is awaited for 2 seconds, or for less if this is less.
   * `Infinity`, as for a recording, holds for both.
   */
  readonly idleTimeoutMs?: number;
  /** Ends the run as aborted, also while it waits for a frame. */
  readonly signal?: AbortSignal;
  /** The clock of `idleTimeoutMs`. */
  readonly clock?: Clock;
  /** Is told what subagents do, which no session event carries: for the `tell` of an agent's request. It must not throw. */
  readonly onSubagent?: (fact: SubagentFact) => void;
  /** Is told what was left out or could not be read, with a count of each kind. */
  readonly onDiagnostic?: (diagnostic: SessionDiagnostic) => void;
  /** Gets a line for each event at level debug: its type and ids, and never its text. */
  readonly logger?: Logger;
  /** Goes into the trace. */
  readonly runId?: string;
  /** Goes into the trace; what the frames say, unless given. */
  readonly sessionId?: string;
  /** Checks the order of what is emitted and throws on a violation: for tests, and hosts in test mode. */
  readonly check?: boolean;
}

/** The options that the state of a run reads. */
export type RunOptions = Pick<NormalizeOptions, 'toolStart' | 'subagents' | 'end'>;
