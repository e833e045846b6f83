import { type Clock, type Logger, pause } from 'sluice-kernel/internal';
import type { SendResult } from '../../channel/index.js';
import type { CallAnswer, ChatPort, MessageId, PartCall } from '../send/port.js';

/** Attempts of calls that may be repeated. */
const editAttempts = 3;
const removalAttempts = 5;
/** Milliseconds of one of them: all together must end before a host gives them up. */
const callTimeoutMs = 8_000;
const firstWaitMs = 1_000;
const longestWaitMs = 10_000;

/** A message that is out, and can be edited or taken back. */
export interface ShownMessage<Part> {
  readonly port: ChatPort<Part>;
  readonly messageId: MessageId;
  readonly clock: Clock;
  readonly log: Logger;
  /** Gives up waiting between attempts. */
  readonly signal: AbortSignal;
  /** As that of `StreamPermits`. */
  readonly mayTakeBack?: () => Promise<boolean>;
}

/** Edits it once. */
export function editMessage<Part>(
  { port, messageId }: ShownMessage<Part>,
  part: Part,
  { isPlain = false, isLast = false }: Partial<Pick<PartCall, 'isPlain' | 'isLast'>> = {},
): Promise<CallAnswer<unknown>> {
  return port.edit(messageId, part, { timeoutMs: callTimeoutMs, isPlain, isFirst: true, isLast });
}

/** Returns whether an edit changed nothing, since it was there already. */
export function isUnchanged(answer: CallAnswer<unknown>): boolean {
  return answer.status === 'refused' && answer.cause === 'unchanged';
}

/**
 * Edits it until it shows a part. An edit may be repeated: it makes the same message the same text.
 *
 * @returns `placed`; `gone` where it was removed, by others or here, and nothing of it is shown; or why it shows
 *   something else.
 */
export async function placePart<Part>(
  shown: ShownMessage<Part>,
  part: Part,
  isLast: boolean,
): Promise<'placed' | 'gone' | SendResult> {
  let isPlain = false;
  for (let attempt = 1; ; ) {
    const answer = await editMessage(shown, part, { isPlain, isLast });
    if (answer.status === 'done' || isUnchanged(answer)) return 'placed';
    const { reason } = answer;
    if (answer.status === 'refused' && answer.cause !== 'busy') {
      if (answer.cause === 'markup' && !isPlain) {
        isPlain = true;
        continue;
      }
      // it cannot be edited, or is gone, or nobody may write there any more
      const isRemoved = await removeMessage(shown);
      if (answer.cause === 'forbidden') return { status: 'rejected', reason };
      return isRemoved ? 'gone' : { status: 'ambiguous', reason };
    }
    const waitMs =
      (answer.status === 'refused' ? answer.retryAfterMs : undefined) ??
      firstWaitMs * 2 ** (attempt - 1);
    if (attempt++ >= editAttempts || waitMs > longestWaitMs || shown.signal.aborted) {
      return (await removeMessage(shown))
        ? { status: 'retry-after', retryAfterMs: waitMs, reason }
        : { status: 'ambiguous', reason };
    }
    await pause(shown.clock, waitMs, shown.signal);
  }
}

/**
 * Takes it back. A removal may be repeated. Where it cannot be made, that is told.
 *
 * @returns whether it is gone.
 */
export async function removeMessage<Part>(shown: ShownMessage<Part>): Promise<boolean> {
  const { port, messageId, clock, log, signal, mayTakeBack } = shown;
  for (let attempt = 1; ; attempt++) {
    if ((await mayTakeBack?.()) === false) return false;
    const answer = await port.remove(messageId, callTimeoutMs);
    if (answer.status === 'done') return true;
    const cause = answer.status === 'refused' ? answer.cause : 'busy';
    if (cause === 'gone') return true;
    if (cause !== 'busy' || attempt >= removalAttempts || signal.aborted) {
      log.warn('a part of a reply could not be taken back', { detail: answer.reason });
      return false;
    }
    const asked = answer.status === 'refused' ? (answer.retryAfterMs ?? 0) : 0;
    const waitMs = Math.max(firstWaitMs * 2 ** (attempt - 1), asked);
    await pause(clock, Math.min(longestWaitMs, waitMs), signal);
  }
}
