import type { SendEndRecord, SendRecord, SendReport } from '@sluice/journal';
import { digestOf } from '@sluice/journal/internal';
import { definedFields, type Outcome, type PayloadOf } from 'sluice-kernel/internal';
import { boundedJson } from '../timeline/bounded-json.js';

type Payload = PayloadOf<'egress.preparing'>;

/** A body is what is sent again after a restart: it is persisted whole, or the send does not go out. */
export const maxBodyLength = 16 * 1024 * 1024;

/** The end of a send, with the words that `egress.preparing` has passed if it has changed them (durability §13.5). */
export function withWords(
  { event, payload }: Pick<Outcome<'egress.preparing'>, 'event' | 'payload'>,
  end: SendEndRecord,
): SendEndRecord {
  if (payload === event.payload) return end;
  const { accounts: _, ...passed } = payload;
  const body = boundedJson(passed, { maxLength: maxBodyLength });
  return 'json' in body ? { ...end, body: body.json } : end;
}

/** The words of a send. */
export type Said = Pick<Payload, 'content'> &
  Partial<Pick<Payload, 'attachments' | 'interactive' | 'kind' | 'metadata'>>;

/** The id under which the journal has a send: the final of a stream ends what the stream has opened. */
export function sendIdOf({ event }: Pick<Outcome<'egress.preparing'>, 'event'>): string {
  return event.payload.openedBy ?? event.eventId;
}

/** A send of the journal as its message's end tells of it. */
export function reportOfRecord(record: SendRecord): SendReport {
  const { state, attempts, channel, accountId, providerMessageId, cause, reason } = record;
  const { content } = JSON.parse(record.body) as Pick<PayloadOf<'egress.preparing'>, 'content'>; // as it was written
  const [extensionId, contributionId] = reason?.split('/') ?? [];
  const by = extensionId !== undefined && contributionId !== undefined;
  return {
    status: state === 'sent' || state === 'cancelled' ? state : 'failed',
    content,
    attempts,
    ...definedFields({ channel, accountId }),
    ...(state === 'sent' && {
      receipt: providerMessageId === undefined ? {} : { messageId: providerMessageId },
    }),
    ...(state === 'cancelled' && {
      cancel: { code: cause ?? 'cancelled', ...(by && { extensionId, contributionId }) },
    }),
    ...(state === 'failed' && { error: reason ?? cause ?? 'it was not sent' }),
    indexKeys: [],
  };
}

/** The number of a send within its message, from 1; 0 if its id is of another making. */
export function numberOf(sendId: string): number {
  return Number(/\.(\d+)$/.exec(sendId)?.[1] ?? 0);
}

const unknownEnds = ['ambiguous', 'threw', 'aborted'];

/** Returns whether a send is out, or nobody knows: then it may not be said again. */
export function mayBeOut({ state, attempts, cause = '' }: SendRecord): boolean {
  return state === 'sent' || (state === 'failed' && attempts > 0 && unknownEnds.includes(cause));
}

/**
 * Names the words of a send: the same words are not sent twice for one message. Of a send that answers nothing its metadata
 * counts, too: it is one by its key, and the journal keeps both without secrets.
 */
export function fingerprintOf({ content, attachments = [], interactive, ...said }: Said): string {
  const elements = interactive === undefined ? [] : [interactive];
  const { kind, metadata = {} } = said;
  const own = kind === 'unprompted' && Object.keys(metadata).length > 0 ? [{ metadata }] : [];
  return digestOf([content, attachments, ...elements, ...own]);
}
