import { pause } from 'sluice-kernel/internal';
import type { SendPermit, SendResult } from '../../channel/index.js';
import type { ChatPort, MessageId } from './port.js';
import type { SendParts } from './surface.js';

/** Milliseconds that a message may take, all of its parts: less than a host waits for it. */
const deadlineMs = 55_000;
/** Milliseconds of one call. */
const callTimeoutMs = 30_000;
/** Milliseconds to wait if the provider does not say how long; doubled with each attempt. */
const unsaidWaitMs = 1_000;
const longestUnsaidWaitMs = 16_000;

/**
 * Sends the message of a permit as the calls that it takes. Waits that the provider does not name grow with the attempts.
 *
 * @example
 * checkPermit(permit, inbox);
 * return sendMessage({ surface, clock, signal }, permit);
 */
export async function sendMessage<Part>(
  send: SendParts<Part>,
  permit: Pick<SendPermit, 'take' | 'attempt' | 'idempotencyKey'>,
): Promise<SendResult> {
  const message = permit.take();
  const port = send.surface.at(message);
  if ('problem' in port) return { status: 'rejected', reason: port.problem };
  const made = await send.surface.partsOf(message);
  if (made.problem !== undefined) return { status: 'rejected', reason: made.problem };
  const { attempt, idempotencyKey: key } = permit;
  return sendParts(send, { port, parts: made.parts, attempt, key });
}

/** Calls that belong to one message. */
export interface Batch<Part> {
  readonly port: ChatPort<Part>;
  readonly parts: readonly Part[];
  readonly attempt: number;
  /** The idempotency key of the message. */
  readonly key: string;
  /** The ids of parts that are out already. */
  readonly before?: readonly MessageId[];
}

/**
 * Makes calls one after the other. A refusal for now is left to the host while nothing is out; after the first part only
 * the rest is made again here, since the host would send all of it anew. A call that nobody knows the end of is never
 * made again.
 */
export async function sendParts<Part>(
  { clock, signal }: Omit<SendParts<Part>, 'surface'>,
  batch: Batch<Part>,
): Promise<SendResult> {
  const { port, parts, before = [] } = batch;
  const endsAtMs = clock.monotonicMs() + deadlineMs;
  const ids = [...before];
  let sentAtMs: number | undefined;
  for (const [at, part] of parts.entries()) {
    const isFirst = ids.length === 0;
    const isLast = at === parts.length - 1;
    let isPlain = false;
    for (let attempt = batch.attempt; ; attempt++) {
      const timeoutMs = Math.min(callTimeoutMs, endsAtMs - clock.monotonicMs());
      if (timeoutMs <= 0) return partly(ids, batch, 'the time is up');
      if (signal.aborted) return partly(ids, batch, 'the host does not wait for the rest');
      const key = `${batch.key}:${before.length + at}`;
      const answer = await port.post(part, { timeoutMs, isPlain, isFirst, isLast, key });
      if (answer.status === 'done') {
        sentAtMs = answer.result.sentAtMs;
        ids.push(answer.result.messageId);
        break;
      }
      const { reason } = answer;
      if (answer.status === 'unknown') return partly(ids, batch, reason);
      if (answer.status === 'refused') {
        if (answer.cause === 'markup' && !isPlain) {
          isPlain = true;
          continue;
        }
        if (answer.cause !== 'busy')
          return ids.length === 0 ? { status: 'rejected', reason } : partly(ids, batch, reason);
      }
      const asked = answer.status === 'refused' ? answer.retryAfterMs : undefined;
      const retryAfterMs = asked ?? unsaidWait(attempt);
      if (ids.length === 0) return { status: 'retry-after', retryAfterMs, reason };
      if (clock.monotonicMs() + retryAfterMs >= endsAtMs) return partly(ids, batch, reason);
      await pause(clock, retryAfterMs, signal);
    }
  }
  return sent(ids, port, sentAtMs);
}

function unsaidWait(attempt: number): number {
  return Math.min(longestUnsaidWaitMs, unsaidWaitMs * 2 ** (attempt - 1));
}

/** The part that is out of a message that did not go out whole. It is not sent again: that part would be doubled. */
function partly<Part>(
  ids: readonly MessageId[],
  { parts, before = [] }: Batch<Part>,
  reason: string,
): SendResult {
  const whole = parts.length + before.length;
  return {
    status: 'ambiguous',
    reason:
      ids.length === 0 ? reason : `${ids.length} of ${whole} parts were sent; then: ${reason}`,
  };
}

/** The receipt of a message that is out. */
export function sent(
  ids: readonly MessageId[],
  { conversationId }: Pick<ChatPort<never>, 'conversationId'>,
  sentAtMs?: number,
): SendResult {
  const [first] = ids;
  return {
    status: 'sent',
    receipt: {
      ...(first !== undefined && { messageId: String(first) }),
      ...(ids.length > 1 && { messageIds: ids.map(String) }),
      conversationId,
      ...(sentAtMs !== undefined && { sentAtMs }),
    },
  };
}
