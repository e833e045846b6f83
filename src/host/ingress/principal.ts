import type { SenderProof } from '@sluice/sdk/channel';
import { definedFields, type Principal, type ProvenSender } from 'sluice-kernel/internal';
import type { Decoded } from '../jobs/job.js';
import type { HostParts } from '../parts/parts.js';
import type { RunningAccount } from '../provided/accounts.js';
import { asPrincipal } from '../provided/roles.js';
import { conversationOf } from '../session/routing.js';

/** Finds the sender that a channel has proven, in an update as it was decoded; nothing if it has proven none (judgement §1.5). */
export function provenSender(
  { channel, accountId }: RunningAccount,
  decoded: Decoded,
): ProvenSender | undefined {
  if (decoded.kind === 'job') return decoded.job.kind === 'question' ? decoded.job.by : undefined;
  if (proofOf(decoded) === undefined) return undefined;
  const told =
    decoded.kind === 'interaction'
      ? decoded.interaction
      : 'message' in decoded
        ? { ...decoded.message, conversationId: conversationOf(decoded.message) }
        : undefined;
  const { id, name, isBot } = told?.sender ?? {};
  if (id === undefined || id === '' || isBot === true) return undefined; // a program passes on the words of others
  return {
    ...{ channel: channel.id, accountId, senderId: id },
    ...definedFields({ conversationId: told?.conversationId, senderName: name }),
  };
}

/**
 * Makes the principal of an update: the sender that its channel has proven, with the roles that the operator gives to him today. An
 * update that is claimed again has the same sender.
 */
export function principalOf(
  parts: Pick<HostParts, 'roles' | 'options'>,
  account: RunningAccount,
  decoded: Decoded,
): Principal | undefined {
  const sender = provenSender(account, decoded);
  if (sender === undefined) return undefined;
  const { channel } = account;
  // an extension cannot make an owner: only the maker of the host gives it a channel of this machine
  const isLocal = proofOf(decoded) === 'local' && parts.options.channels.includes(channel);
  return asPrincipal(parts, sender, isLocal);
}

function proofOf(decoded: Decoded): SenderProof | undefined {
  const proof: unknown = 'senderProof' in decoded ? decoded.senderProof : undefined; // from outside
  return proof === 'account' || proof === 'local' ? proof : undefined;
}
