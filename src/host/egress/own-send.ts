import { Trail, type TrailRefs } from '@sluice/agent';
import type { Fence, SendReport } from '@sluice/journal';
import type { KeptSend } from '@sluice/sdk/extension';
import { anySignal } from '@sluice/sdk/stream/internal';
import { definedFields, onAbort, oneLine } from 'sluice-kernel/internal';
import type { HostParts } from '../parts/parts.js';
import { underFence, underOwnFence } from '../parts/under-fence.js';
import { deliverPrepared } from './delivery.js';
import { deferredSend, endOfUnpassed, failedReport } from './end-send.js';
import { type OutgoingMessage, type PreparedSend, prepareSend } from './prepare-send.js';

/** A message that answers nothing: of the program that made the host, or of an extension. */
export type OwnMessage = Omit<OutgoingMessage, 'kind' | 'explicit'>;

/** A send that was judged. */
export interface JudgedSend extends KeptSend {
  /** Why the journal could not keep it: it does not go out. */
  readonly unpersisted?: string;
}

/** How a message is sent. */
export interface OwnSendOptions {
  readonly refs?: TrailRefs;
  /** The id that it is judged under; a new one if absent. */
  readonly eventId?: string;
  /** Gives up waiting, besides the host's own signal. */
  readonly signal?: AbortSignal;
  /** The fence of the send; by default that of the partition of its account, or of its address. */
  readonly fence?: Fence;
}

/**
 * Sends a message that answers nothing. It is judged and kept at once, so that whoever waits for that waits for no other send;
 * messages to one address go out in the order in which they were given.
 *
 * @returns when it is judged and kept.
 * @throws what the kernel throws where it cannot dispatch: nothing is sent then.
 */
export async function sendOwn(
  host: HostParts,
  message: OwnMessage,
  { refs, eventId, signal, fence }: OwnSendOptions = {},
): Promise<JudgedSend> {
  const { channel, accountId, to, threadId = '' } = message;
  const lane = JSON.stringify(['unprompted', channel ?? '', accountId ?? '', to, threadId]);
  const account = host.accounts.find(channel ?? '', accountId ?? '');
  // whoever takes the account takes its sends
  const slot = account?.slot ?? host.journal.ownership.slotOf(lane);
  const fenced = fence === undefined ? underOwnFence(host, slot) : underFence(host, fence);
  const either = signal === undefined ? fenced.signal : anySignal(signal, fenced.signal);
  const parts = { ...fenced, signal: either };
  const explicit = channel !== undefined && accountId !== undefined;
  const outgoing: OutgoingMessage = { ...message, kind: 'unprompted', explicit };
  const trail = new Trail(parts.kernel, undefined, refs);
  const how = { streaming: false, signal: either, ...definedFields({ eventId }) };
  const preparing = prepareSend(parts, trail, outgoing, how);
  let ending: Promise<SendReport> | undefined;
  const end = (): Promise<SendReport> => {
    ending ??= preparing.then((prepared) =>
      isDeferredToNext(fenced, prepared)
        ? deferredSend(prepared)
        : deliverPrepared(parts, trail, prepared, either),
    );
    return ending;
  };
  // in a lane, so that a stop waits for it, too
  const inTurn = parts.sendLanes.run(lane, end); // a turn may wait for it
  const ended = new Promise<SendReport>((resolve, reject) => {
    // nothing of an aborted message goes out, so it waits for none before it
    const heard = onAbort(either, () => end().then(resolve, reject));
    inTurn.then(resolve, reject).finally(() => heard[Symbol.dispose]());
  });
  const reported = ended.catch((error: unknown) => failedReport(message.content, oneLine(error)));
  const { outcome, unpersisted } = await preparing;
  return { sendId: outcome.event.eventId, ended: reported, ...definedFields({ unpersisted }) };
}

/** Returns whether a send that its channel has not had is left to the next host: its row stays open in the journal. */
function isDeferredToNext({ signal, outbox }: HostParts, prepared: PreparedSend): boolean {
  return signal.aborted && outbox.mayDefer && endOfUnpassed(prepared) === undefined;
}
