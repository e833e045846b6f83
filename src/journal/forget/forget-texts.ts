import { setImmediate as nextTurn } from 'node:timers/promises';
import type { KeyValueReader } from '@sluice/sdk/extension';
import { definedFields } from 'sluice-kernel/internal';
import { entryKinds } from '../entry-kinds.js';
import {
  type DispatchRecord,
  type JournalReader,
  openSends,
  openUpdates,
  type SendRecord,
  type UpdateRecord,
} from '../journal.js';
import { mapped } from '../privacy/scrub.js';
import { forgottenProof } from '../record/proof.js';

/** The sender or the conversation whose texts are forgotten: its id, with or without its channel before it. */
export interface Whose {
  readonly of: 'sender' | 'conversation';
  readonly id: string;
}

/** The numbers of rows whose texts are gone, and of messages that are left because they have not ended. */
export interface Forgotten {
  readonly messages: number;
  readonly sends: number;
  readonly sessions: number;
  readonly questions: number;
  readonly open: number;
}

/** Rows that are read at once. */
export const forgetPage = 500;

/** The rows of a journal that no host uses. */
export interface ForgetfulRows extends Pick<JournalReader, 'updates' | 'sends' | 'dispatches'> {
  readonly keyValues: KeyValueReader;
  /** The next sessions in the order of their keys: as many as a page has, if there are. */
  sessions(
    afterKey: string,
  ): Promise<readonly Readonly<Record<'sessionKey' | 'sessionId' | 'body', string>>[]>;
  /**
   * Drops sessions with their transcripts and questions, and removes the texts of messages with all that followed from each: all of it,
   * or nothing.
   */
  forget(found: Found): Promise<void>;
}

/** The sessions and messages, by their ids, and the questions that are forgotten. */
export interface Found {
  readonly sessions: readonly string[];
  readonly messages: readonly string[];
  readonly questions: readonly Readonly<Record<'namespace' | 'key', string>>[];
}

/**
 * Removes the texts of a sender or a conversation from a journal (durability §13.6). It reads all rows, a page at a time.
 *
 * @param isDry only counts.
 */
export async function forgetTexts(
  rows: ForgetfulRows,
  whose: Whose,
  isDry: boolean,
): Promise<Forgotten> {
  const names = namesOf(whose);
  const busy = new Set<string>();
  const messages = new Set<string>();
  const turns = new Set<unknown>();
  for await (const { eventId } of all((at) => rows.updates({ ...at, states: openUpdates })))
    busy.add(eventId);
  for await (const one of all((at) => rows.sends({ ...at, states: openSends })))
    busy.add(messageOf(one));
  for await (const { eventId, lane, body } of all((at) => rows.updates(at)))
    if (names(body) || isLaneOf(whose, lane)) messages.add(eventId);
  for await (const one of all((at) => rows.sends(at)))
    if (names(one.body)) messages.add(messageOf(one));
  for await (const { body, correlationId, sessionId } of all((at) =>
    rows.dispatches({ ...at, kinds: entryKinds }),
  ))
    if (messages.has(correlationId) || names(body))
      turns.add(messages.add(correlationId) && sessionId); // what names them comes before the turn
  const questions = await questionsOf(rows.keyValues, names, busy);
  const open = [...messages].filter((id) => busy.has(id) && messages.delete(id)).length;
  let sends = 0;
  for await (const one of all((at) => rows.sends(at))) if (messages.has(messageOf(one))) sends++;
  const sessions: string[] = [];
  for (let next = await rows.sessions(''); next.length > 0; ) {
    for (const { sessionKey, sessionId, body } of next) {
      const last = JSON.parse(body).lastTurn?.correlationId;
      const isTheirs = turns.has(sessionId) || messages.has(last) || isKeyOf(whose, sessionKey);
      if (isTheirs && !busy.has(last)) sessions.push(sessionId);
    }
    next = await rows.sessions(next.at(-1)?.sessionKey ?? '');
  }
  const counts = { messages: messages.size, sends, sessions: sessions.length };
  if (!isDry) await rows.forget({ sessions, messages: [...messages], questions });
  return { ...counts, questions: questions.length, open };
}

/** Reads all rows, a page at a time: they may be more than memory holds. */
async function* all<Row extends { readonly seq: number }>(
  read: (page: { readonly afterSeq: number; readonly limit: number }) => Promise<readonly Row[]>,
): AsyncGenerator<Row> {
  for (let afterSeq = 0, isMore = true; isMore; ) {
    const rows = await read({ afterSeq, limit: forgetPage });
    yield* rows;
    afterSeq = rows.at(-1)?.seq ?? afterSeq;
    isMore = rows.length === forgetPage;
    await nextTurn(); // a signal may come
  }
}

/** The questions that name them, but for those of open messages. */
async function questionsOf(
  values: KeyValueReader,
  names: (body: string) => boolean,
  busy: ReadonlySet<string>,
) {
  const found: Found['questions'][number][] = [];
  for (const { namespace } of await values.namespaces()) {
    if (!/^\/(?:approvals|questions)\//.test(namespace)) continue;
    for (const { key, body } of await values.list(namespace, { prefix: '', limit: 1_000_000 }))
      if (names(body) && !busy.has(JSON.parse(body).correlationId)) found.push({ namespace, key });
  }
  return found;
}

const messageOf = ({ sendId, correlationId = sendId }: SendRecord): string => correlationId;

const isId = ({ id }: Whose, value: unknown): boolean =>
  [String(value), String(value).replace(/^[^:]*:/, '')].includes(id);

/** A lane names the channel, the account, the conversation and the thread. */
function isLaneOf(whose: Whose, lane = ''): boolean {
  const place: unknown = JSON.parse(/\[.*/s.exec(lane)?.[0] ?? '[]');
  return whose.of === 'conversation' && Array.isArray(place) && isId(whose, place[2]);
}

/** The key of a session names its agent, channel and conversation, without the channel before it. */
function isKeyOf({ id }: Whose, sessionKey: string): boolean {
  const [, , channel, ...rest] = sessionKey.split(':');
  const within = id.startsWith(`${channel}:`) ? id.slice(`${channel}:`.length) : id;
  return `:${rest.join(':')}:`.includes(`:${within}:`);
}

/** The fields that name one: by a text, or by an object with an id. */
const fields = {
  sender: /^(?:sender|senderId|from|principal)$/,
  conversation: /^(?:conversation|conversationId|conversationRef|chat|to|groupId)$/,
} as const;

/** Makes the function that says whether JSON names them. */
function namesOf(whose: Whose): (body?: string) => boolean {
  const holds = (value: unknown): boolean =>
    typeof value === 'object' &&
    value !== null &&
    Object.entries(value).some(([name, one]) => {
      const isOne =
        fields[whose.of].test(name) && [one, Object(one).id].some((id) => isId(whose, id));
      return isOne || holds(one);
    });
  const written = JSON.stringify(whose.id).slice(1, -1);
  return (body = '') => body.includes(written) && holds(JSON.parse(body));
}

/** Names of fields whose values stay: ids that Sluice gives, kinds, ends. Numbers stay everywhere else than in `emptied`. */
const shape =
  /^(?:(?:event|parent|correlation|session|run|agent|account|extension|contribution)?[iI]d|time|\w+At|\w+Ms|kind|family|status|state|outcome|class|pass|verdict|policy|why|of|code|rank|channel|omitted)$/;

/** Fields that hold what people say, or who they are. */
const emptied = /^(?:payload|annotations|metadata|providerMetadata|target)$/;
const dropped = /^(?:conversationRef|threadRef|messageRef|principal|question)$/;

/** JSON without its texts: its ids, kinds, ends, counts and times stay (durability §13.6). */
function withoutTexts(body: string): string {
  const value: unknown = JSON.parse(body, (name, one) => {
    if (dropped.test(name)) return undefined;
    return emptied.test(name) ? {} : one;
  });
  return JSON.stringify(mapped(value, () => '', '', shape));
}

/** The fields of a message that has ended as they are without its texts. A dead letter cannot be tried again then. */
export const forgottenUpdate = ({ state, outcome, scrubbedAtMs }: UpdateRecord, nowMs: number) => ({
  ...{ body: undefined, lane: undefined },
  ...(outcome !== 'joined' && { reason: undefined }), // that one names the message that it has joined
  ...(state === 'dead' && { outcome, scrubbedAtMs: scrubbedAtMs ?? nowMs }),
});

/** The same of a send. */
export const forgottenSend = ({ body }: SendRecord) => ({
  ...{ body: withoutTexts(body), fingerprint: '' },
  ...{ shown: undefined, reason: undefined },
});

/** The same of a dispatch, or of another entry. It stays in its chain (record §3). */
export const forgottenDispatch = ({ omitted = 'forgotten', ...one }: DispatchRecord) => ({
  ...one,
  omitted,
  ...definedFields({ proof: forgottenProof(one) }),
  body: withoutTexts(one.body),
});
