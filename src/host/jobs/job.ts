import type { ChannelPlugin, DecodedIngress, InboundUpdate } from '../../channel/index.js';
import type { RunningAccount } from '../provided/accounts.js';

/** A text for the transcript of a session, of an extension. */
export interface InjectJob {
  readonly kind: 'inject';
  readonly extensionId: string;
  readonly sessionKey: string;
  readonly text: string;
}

/** A job of the host itself, kept as an update (extensions-that-act §5.1). */
export type Job = InjectJob;

/** An update as a channel has decoded it, or a job of the host. */
export type Decoded = DecodedIngress | { readonly kind: 'job'; readonly job: Job };

/** The host's own channel: jobs come by it, and nothing goes out. It is never started, and nobody can choose it. */
const jobsChannel: ChannelPlugin = {
  id: 'sluice',
  capabilities: {},
  accounts: ['inject'],
  resendPolicy: { ambiguous: 'fail', maxAttempts: 1, maxWaitMs: 0 },
  startAccount: async () => undefined,
  stopIntake: async () => undefined,
  stopAccount: async () => undefined,
  decodeIngress: () => ({ kind: 'ignored', reason: 'it is a job of the host' }),
  send: async () => ({ status: 'rejected', reason: 'nothing is sent by the host’s own channel' }),
};

/** The account that injections come by. */
export const injectAccount: RunningAccount = {
  channel: jobsChannel,
  accountId: 'inject',
  startedMonotonicMs: 0,
};

/** Reads a job of an update; nothing if the update is of a channel. */
export function jobOf({ channel }: RunningAccount, { raw }: InboundUpdate): Job | undefined {
  return channel === jobsChannel ? (raw as Job) : undefined; // the host has written it
}

/** The lane of a job: jobs of one session are in order. */
export function laneOfJob({ kind, sessionKey }: Job): string {
  return JSON.stringify([jobsChannel.id, kind, sessionKey]);
}
