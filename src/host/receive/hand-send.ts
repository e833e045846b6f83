import { randomUUID } from 'node:crypto';
import type { SendReport } from '@sluice/journal';
import { eventIdOf, isOneOf, openSends, openUpdates } from '@sluice/journal/internal';
import { anySignal } from '@sluice/sdk/stream/internal';
import { definedFields, pause } from 'sluice-kernel/internal';
import { failedReport } from '../egress/end-send.js';
import {
  type JudgedSend,
  type OwnMessage,
  type OwnSendOptions,
  sendOwn,
} from '../egress/own-send.js';
import { reportOfRecord } from '../outbox/report-of-record.js';
import type { SendJob } from '../outbox/send-job.js';
import type { HostParts } from '../parts/parts.js';
import { keyOfAccount } from '../provided/accounts.js';
import { sendAccount } from '../provided/jobs-channel.js';
import { receiveUpdate } from './receive-update.js';

/** Milliseconds for which the end of a send of another host is waited for, and between two looks. */
const waitMs = 60_000;
const lookEveryMs = 200;

/** Sends as `sendOwn` does; by an account that another host connects, through that host (durability §12.6). */
export async function sendFromAny(
  parts: HostParts,
  message: OwnMessage,
  options: OwnSendOptions = {},
): Promise<JudgedSend> {
  const { channel = '', accountId = '', content } = message;
  const isHanded = isElsewhere(parts, channel, accountId) || (await wasHanded(parts, options));
  if (!isHanded) return sendOwn(parts, message, options);
  const { refs, signal, eventId: sendId = `h-${randomUUID()}` } = options;
  const named = { kind: 'send', sendId, channel, accountId, message } as const;
  const raw: SendJob = { ...named, ...definedFields({ refs }) };
  const taken = await receiveUpdate(parts, sendAccount, { raw, updateId: sendId });
  if (taken === undefined) return { sendId, ended: endThere(parts, sendId, message, signal) };
  const unpersisted = 'the journal could not keep it for the host that connects its account';
  return { sendId, unpersisted, ended: Promise.resolve(failedReport(content, unpersisted)) };
}

/** Returns whether a send with a key was handed over before this host had the account, and has not been made: its job makes it. */
async function wasHanded({ journal }: HostParts, { eventId: sendId }: OwnSendOptions) {
  if (sendId === undefined) return false;
  const [job] = await journal.updates({ eventId: jobIdOf(sendId), withoutBody: true });
  return isOneOf(openUpdates, job?.state ?? '');
}

/** The id of the job that makes a send. */
function jobIdOf(sendId: string): string {
  return eventIdOf(sendAccount.channel.id, sendAccount.accountId, sendId);
}

/** Returns whether another host is to connect an account of this host's config. */
function isElsewhere({ journal, accounts, channels }: HostParts, id: string, account: string) {
  const { ownership } = journal;
  const channel = channels.find((one) => one.id === id);
  if (channel?.accounts.includes(account) !== true) return false;
  if (channel.capabilities.everyHost === true || accounts.find(id, account)) return false;
  return ownership.fenceOf(ownership.slotOf(keyOfAccount(id, account))) === undefined;
}

/** Waits for the end of a send that another host makes. */
async function endThere(
  { journal, clock, signal: ownSignal }: HostParts,
  sendId: string,
  { channel, accountId, content }: OwnMessage,
  given?: AbortSignal,
): Promise<SendReport> {
  const signal = given === undefined ? ownSignal : anySignal(ownSignal, given);
  const untilMs = clock.monotonicMs() + waitMs;
  const eventId = jobIdOf(sendId);
  const look = async (): Promise<SendReport | undefined> => {
    const [update] = await journal.updates({ eventId, withoutBody: true });
    const [record] = await journal.sends({ eventId: sendId });
    if (record !== undefined && !isOneOf(openSends, record.state)) return reportOfRecord(record);
    if (update === undefined || isOneOf(openUpdates, update.state)) return undefined;
    const why = update.reason ?? 'its host could not keep its end';
    return record === undefined ? failedReport(content, `it was not sent: ${why}`) : undefined;
  };
  for (;;) {
    const end = await look().catch(() => undefined); // the journal is away: it is asked again
    if (end !== undefined) return end;
    const isWaiting = clock.monotonicMs() < untilMs && (await pause(clock, lookEveryMs, signal));
    if (isWaiting) continue;
    const why = signal.aborted
      ? 'nobody waits for it any more'
      : `there was no end for ${waitMs} ms`;
    const rest = 'it is persisted, and the host that connects the account sends it';
    return failedReport(content, `${why}, of its send by ${channel}/${accountId}: ${rest}`);
  }
}
