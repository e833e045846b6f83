import type { SendRecord, SendReport } from '@sluice/journal';
import { digestOf, isOneOf, openSends } from '@sluice/journal/internal';
import type { ExtensionHost, ExtensionMessage, KeptSend } from '@sluice/sdk/extension';
import { Recent } from '@sluice/sdk/stream/internal';
import { type Clock, definedFields, pause, sameData } from 'sluice-kernel/internal';
import { hostError } from '../errors.js';
import { fingerprintOf, reportOfRecord } from '../outbox/report-of-record.js';
import type { SendJob } from '../outbox/send-job.js';
import type { HostParts } from '../parts/parts.js';
import { failedReport } from './end-send.js';
import type { JudgedSend, OwnMessage, sendOwn } from './own-send.js';

/** A send with a key that this host has made or found. */
interface Keyed {
  readonly message: OwnMessage;
  readonly kept: Promise<KeptSend>;
}

/** Keys that a host without a journal in a file remembers. */
const keysInMemory = 10_000;
/** Milliseconds between two looks at a send that another part of the host brings to its end. */
const lookEveryMs = 1_000;

/**
 * Sends the messages of extensions (extensions-that-act §4): each is a send of the host, with a key at most one.
 *
 * @param sendBy takes a message out, as `sendOwn` does.
 */
export function extensionSends(parts: HostParts, sendBy: typeof sendOwn) {
  const { kernel, journal, clock, accounts } = parts;
  const count = countedSends(clock);
  const keyed = new Recent<string, Keyed>(keysInMemory);

  const read = (extensionId: string, given: ExtensionMessage) => {
    const { key: _, after, ...fields } = given;
    const { channel, to, threadId = '' } = fields;
    const accountId =
      fields.accountId ??
      accounts.all().find((one) => one.channel.id === channel)?.accountId ??
      parts.channels.find(({ id }) => id === channel)?.accounts[0];
    const message = checked({ ...fields, ...definedFields({ accountId }) });
    const depth = Number(after?.event.metadata['sendDepth'] ?? 0) + 1;
    const { correlationId, agentId, sessionId } = after?.event ?? {};
    const refs = {
      ...definedFields({ correlationId, agentId, sessionId }),
      metadata: { extensionId, sendDepth: depth },
    };
    const counted = (): void => {
      const problem = count(extensionId, [channel, accountId, to, threadId], depth);
      if (problem !== undefined) throw hostError('too-many-sends', { extensionId, problem });
    };
    return { message, refs, counted };
  };

  /** Reads a message that goes out later, and finds whether its key has gone out before. */
  const readLater = async (extensionId: string, key: string, given: ExtensionMessage) => {
    const { message, refs, counted } = read(extensionId, given);
    const { channel = '', accountId = '' } = message;
    const sendId = sendIdOf(extensionId, key);
    const [record] = await journal.sends({ eventId: sendId });
    if (record !== undefined && !isPersisted(record, message, given))
      throw hostError('key-conflict', { extensionId, key });
    const job: SendJob = { kind: 'send', sendId, channel, accountId, message, refs };
    return { job, isSent: record !== undefined, counted };
  };

  const send: ExtensionHost['send'] = async (extensionId, given) => {
    const { key } = given;
    const { message, refs, counted } = read(extensionId, given);
    const sendNow = async (eventId?: string): Promise<KeptSend> => {
      counted();
      const sent: JudgedSend = await sendBy(parts, message, {
        refs,
        ...definedFields({ eventId }),
      });
      const { sendId, ended, unpersisted } = sent;
      if (unpersisted !== undefined)
        throw hostError('not-kept', { extensionId, problem: unpersisted });
      return { sendId, ended };
    };
    if (key === undefined) return sendNow();
    const sendId = sendIdOf(extensionId, key);
    const known = keyed.get(sendId);
    if (known !== undefined) {
      if (!isSame(known.message, message, given))
        throw hostError('key-conflict', { extensionId, key });
      return known.kept;
    }
    const persisted = (async () => {
      const [record] = await journal.sends({ eventId: sendId });
      if (record === undefined) return sendNow(sendId);
      if (!isPersisted(record, message, given))
        throw hostError('key-conflict', { extensionId, key });
      return { sendId, ended: endOf(parts, record) };
    })();
    keyed.set(sendId, { message, kept: persisted });
    void persisted.then(
      ({ ended }) => ended.then(() => parts.outbox.mayDefer && keyed.delete(sendId)),
      () => keyed.delete(sendId), // it was not sent: the key is free
    );
    return persisted;
  };
  return { send, readLater };

  /** @throws SluiceError `bad-payload`: it comes from outside the types. */
  function checked(message: Omit<ExtensionMessage, 'key' | 'after'>): OwnMessage {
    const whole = {
      ...{ attachments: [], metadata: {} },
      ...message,
      ...{ kind: 'unprompted', streaming: false, explicit: true, accounts: [] },
    };
    const payload = kernel.parsePayload('egress.preparing', whole);
    const {
      kind: _kind,
      streaming: _streaming,
      explicit: _explicit,
      accounts: _,
      ...own
    } = payload;
    return own;
  }
}

/** The id of the send that a key names. */
export function sendIdOf(extensionId: string, key: string): string {
  return `x-${digestOf(['send', extensionId, key])}`;
}

/** The fields that a fingerprint names, and the others that a key names. */
const words: readonly (keyof OwnMessage)[] = ['content', 'attachments', 'interactive', 'metadata'];
const others: readonly (keyof OwnMessage)[] = ['channel', 'to', 'threadId', 'format', 'silent'];

/** Returns whether a key names this message: the account counts if the author named one. */
function isSame(
  before: OwnMessage,
  now: OwnMessage,
  given: ExtensionMessage,
  compared: readonly (keyof OwnMessage)[] = [...words, ...others],
): boolean {
  if (given.accountId !== undefined && given.accountId !== before.accountId) return false;
  return compared.every((field) => sameData(before[field], now[field]));
}

/** The same of a message that the journal has: its words are there without secrets, and all of it is there as JSON. */
function isPersisted(
  { body, fingerprint }: SendRecord,
  message: OwnMessage,
  given: ExtensionMessage,
) {
  const before = JSON.parse(body) as OwnMessage; // as the outbox wrote it
  const now = JSON.parse(JSON.stringify(message)) as OwnMessage; // the same data
  const hasSameWords =
    fingerprint === fingerprintOf({ ...message, kind: 'unprompted' }) ||
    isSame(before, now, given, words);
  return hasSameWords && isSame(before, now, given, others);
}

/** The end of a send that the journal had already. One that is open was left by a host before this one, which brings it to its end. */
export async function endOf(parts: HostParts, record: SendRecord): Promise<SendReport> {
  const { journal, clock, signal } = parts;
  for (let now: SendRecord = record; ; ) {
    if (!isOneOf(openSends, now.state)) return reportOfRecord(now);
    const { content } = JSON.parse(now.body) as OwnMessage; // as the outbox wrote it
    const failed = (error: string) => failedReport(content, error, now.attempts);
    if (!(await pause(clock, lookEveryMs, signal)))
      return failed('the host stopped before it was sent: the next host sends it');
    const [next] = await journal.sends({ eventId: record.sendId }).catch(() => [now]);
    if (next === undefined) return failed('the journal does not have it any more');
    now = next;
  }
}

const minuteMs = 60_000;

/** The bounds of the sends of one extension (extensions-that-act §4.6). */
const sendBounds = {
  /** Sends upon its own sends, one after the other, that `after` names. */
  depth: 8,
  /** Sends to one address in a minute. */
  toOneAddress: 30,
  /** Sends in a minute. */
  inAll: 600,
} as const;

/**
 * Counts the sends of extensions, so that one that sends upon its own sends comes to an end.
 *
 * @returns counts a send, and says why it may not go out, if it may not: it is not counted then.
 */
function countedSends(clock: Clock) {
  const { depth: deepest, toOneAddress, inAll } = sendBounds;
  let minute = 0;
  /** The sends of this minute by extension and address: at most `inAll` for each extension. */
  const counts = new Map<string, number>();
  return (extensionId: string, place: readonly unknown[], depth: number): string | undefined => {
    if (depth > deepest) return `it follows ${deepest} sends that followed one another`;
    const now = Math.floor(clock.monotonicMs() / minuteMs);
    if (now !== minute) counts.clear();
    minute = now;
    const all = JSON.stringify([extensionId]);
    const address = JSON.stringify([extensionId, ...place]);
    const count = counts.get(all) ?? 0;
    const countThere = counts.get(address) ?? 0;
    if (countThere >= toOneAddress) return `it sent ${toOneAddress} to one address this minute`;
    if (count >= inAll) return `it sent ${inAll} this minute`;
    counts.set(all, count + 1);
    counts.set(address, countThere + 1);
    return undefined;
  };
}
