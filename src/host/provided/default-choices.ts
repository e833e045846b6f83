import { type Kernel, select } from 'sluice-kernel';

/** The id that the host's own contributions carry. */
export const hostExtensionId = 'host';

/** The grants of the host's own contributions. */
const own = ['resolver:routing.resolving', 'resolver:egress.preparing'];

/** A rank below every rank of an extension: the host's proposals are the last resort. */
const lastRank = Number.MIN_SAFE_INTEGER;

/**
 * Contributes the host's own proposals, so that a selection that fails closed has a candidate: the default agent
 * answers, and an answer goes back to where the message came from.
 */
export function contributeDefaultChoices(kernel: Kernel): readonly Disposable[] {
  const made = [kernel.grant(hostExtensionId, own)]; // also under least privilege
  try {
    made.push(
      kernel.contribute({
        family: 'routing.resolving',
        class: 'resolver',
        extensionId: hostExtensionId,
        id: 'default-agent',
        handler: ({ payload }) =>
          payload.defaultAgentId === undefined
            ? null
            : select({ agentId: payload.defaultAgentId }, { rank: lastRank }),
      }),
    );
    made.push(
      kernel.contribute({
        family: 'egress.preparing',
        class: 'resolver',
        extensionId: hostExtensionId,
        id: 'reply-to-origin',
        handler: ({ payload }) => {
          const origin = payload.accounts.find(
            ({ channel, accountId }) =>
              channel === payload.channel &&
              (payload.accountId === undefined || accountId === payload.accountId),
          );
          return origin === undefined ? null : select({ ...origin }, { rank: lastRank });
        },
      }),
    );
    return made;
  } catch (error) {
    for (const one of made) one[Symbol.dispose](); // all of them, or none
    throw error;
  }
}
