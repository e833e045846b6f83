import type { InboundUpdate } from '@sluice/sdk/channel';
import { oneLine } from 'sluice-kernel/internal';
import { atOnce, type Decoded, jobOf, laneOfJob } from '../jobs/job.js';
import type { HostParts } from '../parts/parts.js';
import type { RunningAccount } from '../provided/accounts.js';
import { parseCommandLine } from '../provided/commands.js';
import { sendAccount } from '../provided/jobs-channel.js';
import { laneOfPlace } from '../session/routing.js';
import { checkInteraction } from './interactions.js';
import type { DecodedUpdate } from './received-update.js';

/** Decodes an update. Never throws. */
export function decodeUpdate(
  parts: HostParts,
  account: RunningAccount,
  update: InboundUpdate,
): Decoded {
  const job = jobOf(account, update);
  if (job !== undefined) return { kind: 'job', job };
  try {
    const decoded = account.channel.decodeIngress(update.raw, account.accountId);
    // From outside: checked here, once, so that every stage may trust its types.
    if (decoded.kind === 'command' || decoded.kind === 'interaction')
      return checkInteraction(parts.kernel, decoded, update.raw);
    if (decoded.kind !== 'message') return decoded;
    const checked = { ...decoded.message, raw: update.raw };
    return { ...decoded, message: parts.kernel.parsePayload('ingress.normalized', checked) };
  } catch (error) {
    return { kind: 'undecodable', problem: oneLine(error) };
  }
}

/** A conversation's lane. An update about the running turn has one beside it, and runs at once. */
export function laneOf(parts: HostParts, account: RunningAccount, decoded: Decoded): string {
  if (decoded.kind === 'job') return laneOfJob(decoded.job);
  // A press does not wait for the turn that runs: it may be about that turn.
  if (decoded.kind === 'interaction')
    return `${atOnce}${JSON.stringify([...placeOfPress(account, decoded), 'interaction'])}`;
  if (decoded.kind !== 'message' && decoded.kind !== 'command')
    return JSON.stringify([account.channel.id, account.accountId]);
  const { message } = decoded;
  const command = parseCommandLine(message.content);
  const runsAtOnce = command !== undefined && parts.commands.get(command.name)?.runsAtOnce === true;
  return `${runsAtOnce ? atOnce : ''}${laneOfPlace(account.channel.id, account.accountId, message)}`;
}

/**
 * The slot of a lane: that of its conversation, also if the lane runs at once beside it. All lanes of an account that one host
 * connects at a time are of the slot of the account.
 */
export function slotOfLane(
  { journal }: HostParts,
  lane: string,
  { channel, accountId, slot }: RunningAccount,
): number {
  const { ownership } = journal;
  if (slot !== undefined) return slot;
  if (!runsAtOnce(lane)) return ownership.slotOf(lane);
  const place: unknown = JSON.parse(lane.slice(atOnce.length));
  const named = accountId === sendAccount.accountId && channel === sendAccount.channel ? 2 : 4; // its account, or its conversation
  return ownership.slotOf(JSON.stringify(Array.isArray(place) ? place.slice(0, named) : place));
}

/** The lane of a conversation beside which an update runs at once. */
export function besideLane({ account, decoded }: DecodedUpdate): string | undefined {
  if (decoded.kind === 'interaction') return JSON.stringify(placeOfPress(account, decoded));
  if (decoded.kind !== 'message' && decoded.kind !== 'command') return undefined;
  return laneOfPlace(account.channel.id, account.accountId, decoded.message);
}

/** Names the sender of a message, in whose share it runs. A job has none, nor has a message that names none. */
export function senderOf({ account, decoded }: DecodedUpdate): string | undefined {
  if (decoded.kind !== 'message' && decoded.kind !== 'command') return undefined;
  const { id } = decoded.message.sender ?? {};
  return id && `${account.channel.id} ${account.accountId} ${id}`;
}

function placeOfPress(
  { channel, accountId }: RunningAccount,
  { interaction }: Extract<Decoded, { kind: 'interaction' }>,
): readonly string[] {
  const { conversationId = '', threadId = '' } = interaction;
  return [channel.id, accountId, conversationId, String(threadId)];
}

/** Returns whether the jobs of a lane wait for none but each other: they are about what runs, and may have to end it. */
export function runsAtOnce(lane: string): boolean {
  return lane.startsWith(atOnce);
}
