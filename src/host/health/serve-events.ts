import { once } from 'node:events';
import type { EntryKind, JournalReader } from '@sluice/journal';
import { entryKinds } from '@sluice/journal/internal';
import { type Exchange, isSameSecret } from '@sluice/sdk/chat/internal';
import type { KeyValues } from '@sluice/sdk/extension';
import { definedFields, isSluiceError } from 'sluice-kernel/internal';
import { cloudEventOf } from '../explain/cloud-event.js';
import { checkPlace, followJournal } from '../explain/follow-journal.js';

/** A feed of the entries of a journal for other programs, at `/events` (sight §8). */
export interface EventFeedOptions {
  readonly journal: Pick<JournalReader, 'dispatches'> & { readonly keyValues: KeyValues };
  /** A program has to know it: `Authorization: Bearer TOKEN`. */
  readonly token: string;
  /** The source that the events name, by default `/sluice`. */
  readonly source?: string;
}

/** Programs that are fed at once. */
const feedsAtMost = 16;

/** Makes the function that answers a request with CloudEvents as server-sent events, until its reader has gone. */
export function eventFeed({ journal, token, source }: EventFeedOptions) {
  let feeds = 0;
  return async (exchange: Exchange): Promise<void> => {
    const { request, response } = exchange;
    const { headers, method, url = '' } = request;
    const refuse = exchange.refuse.bind(exchange);
    if (!isSameSecret(headers.authorization, `Bearer ${token}`))
      return refuse(401, 'the token is missing or wrong');
    exchange.known();
    if (method !== 'GET') return refuse(405, 'only GET');
    const { searchParams: given } = new URL(url, 'http://localhost');
    const kinds = given.getAll('kind');
    if (!kinds.every(isKind)) return refuse(400, `a kind is one of ${entryKinds.join(', ')}`);
    if (feeds >= feedsAtMost) return refuse(503, 'too many programs listen');
    const gone = new AbortController();
    response.once('close', () => gone.abort());
    const last = headers['last-event-id'] ?? given.get('from') ?? undefined;
    const how = {
      signal: gone.signal,
      ...definedFields({ from: last === undefined ? undefined : String(last) }),
      ...(kinds.length > 0 && { kinds }),
    };
    const consumer = given.get('consumer') ?? undefined;
    try {
      checkPlace(how.from, consumer);
    } catch (error) {
      return refuse(400, isSluiceError(error) ? error.message : 'that is no place of a journal');
    }
    const records =
      consumer === undefined
        ? followJournal(journal, how)
        : followJournal(journal, { ...how, consumer });
    feeds++;
    try {
      response.socket?.setKeepAlive(true, 15_000); // a reader that is gone without a word is noticed
      response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' });
      response.write(': here\n\n');
      for await (const record of records) {
        const event = cloudEventOf(record, source);
        const text = `id: ${event.id}\nevent: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;
        if (!response.write(text)) await once(response, 'drain', { signal: gone.signal });
      }
      response.end();
    } catch {
      response.destroy(); // the reader has gone, or the journal cannot be read: it comes again from its last event
    } finally {
      gone.abort();
      feeds--;
    }
  };
}

function isKind(kind: string): kind is EntryKind {
  return entryKinds.some((one) => one === kind);
}
