import type { ChannelPlugin } from '@sluice/sdk/channel';
import type { RegistrationKind } from '@sluice/sdk/extension';
import type { RunningAccount } from './accounts.js';

/** The host's own channel: jobs come by it, and nothing goes out. It is never started, and nobody can choose it. */
export const jobsChannel: ChannelPlugin = {
  id: 'sluice',
  capabilities: { everyHost: true },
  accounts: ['inject', 'send'],
  resendPolicy: { ambiguous: 'fail', maxAttempts: 1, maxWaitMs: 0 },
  startAccount: async () => undefined,
  stopIntake: async () => undefined,
  stopAccount: async () => undefined,
  decodeIngress: () => ({
    kind: 'undecodable',
    problem: 'it is no job that this host knows',
    path: '/kind',
  }),
  send: async () => ({ status: 'rejected', reason: 'nothing is sent by the host’s own channel' }),
};

/** The account that injections come by. */
export const injectAccount = accountOf('inject');

/** The account that sends come by which the host of another account is to make. */
export const sendAccount = accountOf('send');

/** Names a thing that an extension has registered by name. */
export interface Named<K extends RegistrationKind = RegistrationKind> {
  readonly kind: K;
  readonly extensionId: string;
  readonly name: string;
}

/** Makes the account that the jobs of a registration come by: it is there as long as the registration is (extensions-that-act §5.4). */
export function accountOfJobs({ kind, extensionId, name }: Named): RunningAccount {
  return accountOf(`${kind}:${extensionId}/${name}`);
}

function accountOf(accountId: string): RunningAccount {
  return { channel: jobsChannel, accountId, startedMonotonicMs: 0 };
}
