import type { SessionUsage, TranscriptEntry, TranscriptSize } from '@sluice/sdk/stream';
import type { CancelRecord, Outcome } from 'sluice-kernel';

/** The fields of a run in each of its payloads. */
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
export interface RunSession extends Pick<RunFields, 'agentId' | 'sessionKey' | 'sessionId'> {
  /** The transcript before the run, oldest first, or its end; absent if it is not known here. */
  readonly history?: readonly TranscriptEntry[];
  /** The size of the transcript before `history`; absent if there is none. */
  readonly beforeHistory?: TranscriptSize;
  /**
   * Writes a message that `transcript.message.writing` passed; a rejection fails the run. Absent if another
   * system writes the transcript: the two transcript stages can then only observe.
   */
  append?(message: TranscriptEntry): void | Promise<void>;
}

/** The reason why a run failed. */
export interface RunError {
  /** `no-model`: nothing valid was chosen. `stage-failed`: a stage failed closed. `provider-failed`: it threw, or
   * ended with an error. `said-nothing`: it ended well, without a text, a file or a tool call. `not-written`: the
   * transcript could not be written. `timed-out`: it took longer than it may. */
  readonly code:
    | 'no-model'
    | 'stage-failed'
    | 'provider-failed'
    | 'said-nothing'
    | 'not-written'
    | 'timed-out';
  /** In one line, for operators. */
  readonly message: string;
  /**
   * Milliseconds after which the provider may be asked again: a field of that name of the error that it threw. With
   * `provider-failed` only.
   */
  readonly retryAfterMs?: number;
  /** The veto that kept the prompt from the model; with `stage-failed` only. */
  readonly cancel?: CancelRecord;
}

/** The report of a run. */
export interface RunReport {
  readonly status: 'completed' | 'aborted' | 'failed';
  /** The texts that the agent wrote for people, in order, whatever the status. */
  readonly assistantTexts: readonly string[];
  /** The messages that were written to the transcript. */
  readonly written: readonly TranscriptEntry[];
  /** With `failed` only. */
  readonly error?: RunError;
  readonly usage?: SessionUsage;
  readonly durationMs: number;
  /** The run's last dispatch, which the next one follows. */
  readonly last: Outcome | undefined;
}
