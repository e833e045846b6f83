import type { DecodedIngress, InboundUpdate } from '@sluice/sdk/channel';
import type { QuestionOutcome, QuestionPlace } from '@sluice/sdk/extension';
import { hasFields } from '@sluice/sdk/extension/internal';
import type { ProvenSender } from 'sluice-kernel';
import type { SendJob } from '../outbox/send-job.js';
import type { RunningAccount } from '../provided/accounts.js';
import { jobsChannel, type Named } from '../provided/jobs-channel.js';

/** A text for the transcript of a session, of an extension. */
export interface InjectJob {
  readonly kind: 'inject';
  readonly extensionId: string;
  readonly sessionKey: string;
  readonly text: string;
}

/** A run of a schedule. */
export interface ScheduleJob extends Named<'schedule'> {
  readonly dueAt: number;
  /** Of times that were added while a host ran: their key, their data, and the times as text. */
  readonly added?: { readonly key: string; readonly data?: unknown; readonly spec: string };
}

/** The end of a question. */
export interface QuestionJob extends Named<'question'> {
  readonly questionId: string;
  readonly place: QuestionPlace;
  readonly data?: unknown;
  readonly end: QuestionOutcome;
  /** The sender of the answer, if his channel has proven who he is. */
  readonly by?: ProvenSender;
}

/** A job of the host itself, kept as an update (extensions-that-act §5.1). */
type Job = InjectJob | ScheduleJob | QuestionJob | SendJob;

/** A job as it was taken in. */
export interface TakenJob<J extends Job = Job> {
  /** The id under which the journal has its update. */
  readonly eventId: string;
  readonly account: RunningAccount;
  /** The number of this attempt, from 1 up. */
  readonly attempt?: number;
  readonly job: J;
}

/** An update as a channel has decoded it, or a job of the host. */
export type Decoded = DecodedIngress | { readonly kind: 'job'; readonly job: Job };

const kinds: readonly unknown[] = [
  'inject',
  'schedule',
  'question',
  'send',
] satisfies Job['kind'][];
export const isJob = (raw: unknown): raw is Job =>
  hasFields<Job>({ kind: 'string' })(raw) && kinds.includes(raw.kind);

/** Reads a job of an update; nothing if the update is of a channel, or is no job that this version knows. */
export function jobOf({ channel }: RunningAccount, { raw }: InboundUpdate): Job | undefined {
  return channel === jobsChannel && isJob(raw) ? raw : undefined;
}

/** How the name of a lane begins whose jobs wait for no others. */
export const atOnce = 'at once ';

/**
 * The lane of a job: injections of one session are in order, and so are the jobs of one registration, the runs of one added time, and
 * sends to one address. A send waits for nothing else, since a turn may wait for it.
 */
export function laneOfJob(job: Job): string {
  if (job.kind === 'send') {
    const { channel, accountId, message } = job;
    return `${atOnce}${JSON.stringify([channel, accountId, message.to, message.threadId ?? ''])}`;
  }
  if (job.kind === 'inject') return JSON.stringify([jobsChannel.id, job.kind, job.sessionKey]);
  const added = job.kind === 'schedule' && job.added !== undefined ? [job.added.key] : [];
  return JSON.stringify([jobsChannel.id, job.kind, job.extensionId, job.name, ...added]);
}
