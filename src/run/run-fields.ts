import type { Outcome } from '../kernel/index.js';
import type { SessionUsage, TranscriptEntry, TranscriptSize } from '../stream/index.js';

/** What every payload of a run says of it. */
export interface RunFields {
  readonly agentId: string;
  readonly sessionKey: string;
  readonly sessionId: string;
  readonly runId: string;
  readonly trigger: string;
  readonly workspaceDir?: string;
  readonly channel?: string;
  readonly messageProvider?: string;
}

/** The session that a run belongs to, as far as its dispatches need it. */
export interface RunSession {
  readonly agentId: string;
  readonly sessionKey: string;
  readonly sessionId: string;
  /** The transcript before the run, oldest first, or its end; absent where nobody here knows it. */
  readonly history?: readonly TranscriptEntry[];
  /** How much of the transcript is before `history`; absent where nothing is. */
  readonly beforeHistory?: TranscriptSize;
  /**
   * Writes a message that `transcript.message.writing` passed; a rejection fails the run. Absent where another
   * system writes the transcript: the two transcript stages can then only observe.
   */
  append?(message: TranscriptEntry): void | Promise<void>;
}

/** Why a run failed. */
export interface RunError {
  /** `no-model`: nothing valid was chosen. `stage-failed`: a stage failed closed. `provider-failed`: it threw, or
   * ended with an error. `not-written`: the transcript could not be written. `timed-out`: it took longer than it may. */
  readonly code: 'no-model' | 'stage-failed' | 'provider-failed' | 'not-written' | 'timed-out';
  /** In one line, for operators. */
  readonly message: string;
}

/** How a run went. */
export interface RunReport {
  readonly status: 'completed' | 'aborted' | 'failed';
  /** The texts that the agent wrote for people, in order, whatever the status. */
  readonly assistantTexts: readonly string[];
  /** What was written to the transcript. */
  readonly written: readonly TranscriptEntry[];
  /** With `failed` only. */
  readonly error?: RunError;
  readonly usage?: SessionUsage;
  readonly durationMs: number;
  /** The run's last dispatch: what comes next follows it. */
  readonly last: Outcome | undefined;
}
