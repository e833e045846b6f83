import { type EarlyEnding, stopped } from '@sluice/journal/internal';
import { definedFields, pause } from 'sluice-kernel/internal';
import { endOf } from '../egress/extension-sends.js';
import { type OwnMessage, sendOwn } from '../egress/own-send.js';
import type { SendJob } from '../jobs/job.js';
import { callWithin } from '../parts/attempt.js';
import type { FencedParts } from '../parts/parts.js';

/** Milliseconds for which a send waits for its account to start, or for its end by another part of the host, and between two looks. */
const waitMs = 60_000;
const lookEveryMs = 200;

/**
 * Makes a send that another host was asked for, by the account that this one connects (durability §12.6). One that a host before
 * this one has left open is brought to its end with the partition of its row. Its end is in its row: the job itself never fails.
 *
 * @throws what the journal throws.
 */
export async function runSend(
  parts: FencedParts,
  { sendId: eventId, channel, accountId, message, refs }: SendJob,
): Promise<EarlyEnding> {
  const { journal, accounts, clock, signal, fence } = parts;
  const untilMs = clock.monotonicMs() + waitMs;
  while (accounts.find(channel, accountId) === undefined && clock.monotonicMs() < untilMs)
    if (!(await pause(clock, lookEveryMs, signal))) return stopped;
  const [known] = await journal.sends({ eventId });
  if (known !== undefined) await callWithin(() => endOf(parts, known), clock, waitMs, signal);
  else {
    const own = message as OwnMessage; // as the other host was given it
    await (await sendOwn(parts, own, { eventId, fence, ...definedFields({ refs }) })).ended;
  }
  return signal.aborted ? stopped : { status: 'job' };
}
