import { Trail } from '@sluice/agent';
import type { SendRecord } from '@sluice/journal';
import { definedFields, type Principal } from 'sluice-kernel/internal';
import { deliverPrepared } from '../egress/delivery.js';
import { endSend, failedSend } from '../egress/end-send.js';
import { prepareSend } from '../egress/prepare-send.js';
import { mayResend } from '../egress/send-attempt.js';
import { finalIdOf } from '../outbox/outbox.js';
import type { FencedParts } from '../parts/parts.js';
import { refOf } from '../parts/refs.js';
import {
  completing,
  type Emitted,
  giveUp,
  left,
  previewOf,
  shownOf,
  takeBackPreview,
  takenBack,
  whyNotAgain,
} from './settle-preview.js';

/**
 * Brings a send that a host before this one has left open to its end (spec durability §7.2). One that was prepared goes
 * out. Of one that its channel had, nobody knows the end: the channel's declared policy decides. Whatever goes out is
 * judged once more by `egress.preparing`, under the id that it had, which is its idempotency key. A preview that still grew is
 * taken back: nothing of it is out then, and its message is handled again. The preview of a final becomes that final.
 *
 * @param principal of its update, if it has one (judgement §1.8).
 * @returns whether it has ended; not where its account does not run.
 * @throws what the journal throws.
 */
export async function settleSend(
  parts: FencedParts,
  record: SendRecord,
  principal?: Principal,
): Promise<boolean> {
  const { sendId, state, channel = '', accountId = '', attempts } = record;
  if (parts.signal.aborted) return false;
  const emitted = JSON.parse(record.body) as Emitted; // as the outbox wrote it
  const trail = trailOf(parts, record, principal);
  const { openedBy } = emitted;
  const isShown = state === 'sending' && openedBy !== undefined; // what it shows is no second send of its key
  const isLost = emitted.streaming || isShown; // but for what its channel can say of it
  const account = parts.accounts.find(channel, accountId);
  const isNamed = channel !== '' || accountId !== '';
  if (account === undefined && isNamed && (shownOf(record) !== undefined || !isLost)) {
    const about = { sendId, channel, accountId };
    parts.logger.warn('a send waits for its account, which does not run', about);
    return false;
  }
  const preview = previewOf(parts, record);
  if (preview !== undefined && openedBy === undefined) {
    const isGone = await takeBackPreview(parts, record, preview);
    if (parts.signal.aborted && !isGone) return false; // the next host tries
    await giveUp(parts, trail, record, emitted, isGone ? takenBack : left);
    return true;
  }
  const wasSending = state === 'sending' && preview === undefined;
  const wasShown = isLost || preview !== undefined;
  const why = wasShown ? left.error : 'the host ended before its channel had answered';
  const asked = { idempotencyKey: sendId, attempts };
  const mayGoOut = async (): Promise<boolean> =>
    account !== undefined && (await mayResend(parts, account, asked, why));
  if (preview === undefined && (isLost || (wasSending && !(await mayGoOut())))) {
    await giveUp(parts, trail, record, emitted, { cause: 'ambiguous', error: why });
    return true;
  }
  const id = openedBy === undefined ? sendId : finalIdOf(openedBy);
  const again = { streaming: false, signal: parts.signal, again: id };
  const prepared = await prepareSend(parts, trail, { ...emitted }, again);
  const isFirst = !wasSending && preview === undefined;
  const otherwise = isFirst ? undefined : whyNotAgain(prepared, account);
  if (otherwise === undefined) {
    if (wasSending) await parts.journal.sending(parts.fence, sendId); // if not, it stays as it is: it may be out
    const open = { ...prepared, isSending: wasSending, mayBeOut: wasSending };
    const first = preview && completing(parts, trail, prepared, preview);
    await deliverPrepared(parts, trail, open, parts.signal, first);
  } else if (
    preview !== undefined &&
    ((await takeBackPreview(parts, record, preview)) || state === 'prepared')
  )
    await deliverPrepared(parts, trail, prepared, parts.signal);
  else {
    const how = preview === undefined ? 'it is not sent again' : 'is not completed';
    const error = `${why}, and ${how}: ${otherwise}`;
    await endSend(parts, trail, prepared, failedSend('ambiguous', error, attempts));
  }
  return true;
}

/**
 * Ends a send that is left open, without judging it or sending it again. Its preview is taken back, if its channel can.
 *
 * @throws what the journal throws.
 */
export async function giveUpSend(
  parts: FencedParts,
  record: SendRecord,
  why: string,
): Promise<void> {
  const preview = previewOf(parts, record);
  const isGone = preview !== undefined && (await takeBackPreview(parts, record, preview));
  const end = isGone ? takenBack : ({ cause: 'ambiguous', error: why } as const);
  const emitted = JSON.parse(record.body) as Emitted; // as the outbox wrote it
  await giveUp(parts, trailOf(parts, record), record, emitted, end);
}

function trailOf({ kernel }: FencedParts, record: SendRecord, principal?: Principal): Trail {
  const { channel = '', accountId = '', correlationId } = record;
  return new Trail(kernel, undefined, {
    ...definedFields({ correlationId, principal }),
    ...(channel !== '' && accountId !== '' && { accountRef: refOf(channel, accountId) }),
  });
}
