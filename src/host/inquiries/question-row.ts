import type {
  ExtensionMessage,
  QuestionOption,
  QuestionOutcome,
  QuestionPlace,
} from '@sluice/sdk/extension';
import type { ProvenSender } from 'sluice-kernel';
import { parseCommandLine } from '../provided/commands.js';
import { isKept, type KindOfItems } from './kept-items.js';

/** The end of a question, with the event id of the update that brought it and its proven sender if there is one. */
export type QuestionEnding = QuestionOutcome & {
  readonly by?: string;
  readonly sender?: ProvenSender;
};

/** A question as the journal keeps it: one row (extensions-that-act §7). */
export interface QuestionRow {
  readonly id: string;
  readonly extensionId: string;
  readonly name: string;
  readonly place: Required<Pick<QuestionPlace, 'channel' | 'accountId' | 'to'>> &
    Pick<QuestionPlace, 'threadId'>;
  readonly options: readonly QuestionOption[];
  readonly takesText: boolean;
  readonly data?: unknown;
  /** Its message, as `api.send` takes it, until it is persisted. */
  readonly message?: ExtensionMessage;
  /** The digest of its conversation, message and data: the same key names the same. */
  readonly digest: string;
  readonly askedAtMs: number;
  readonly dueAtMs: number;
  /** A slot of the host that has asked: the host that has it waits for the deadline. An older version has none. */
  readonly slot?: number;
  /** Its end, until the job of it is persisted. */
  readonly end?: QuestionEnding;
}

/** A place as updates and rows name it. */
export interface AnsweredPlace {
  readonly channel: string;
  readonly accountId?: string | undefined;
  readonly conversationId: string;
  readonly threadId?: string | number | undefined;
}

/** The kinds of inquiries, as the names of their buttons have them: a question of an extension, and an approval. */
type InquiryKind = 'q' | 'a';

/** Names the button of an option: at most 64 bytes, which is all that Telegram takes. */
export function buttonOf(kind: InquiryKind, id: string, at: number): string {
  return `sluice:${kind}:${id}:${at}`;
}

/** Reads the name of a button; nothing if it is not the button of an inquiry. */
export function readButton(
  name: string,
): { readonly kind: InquiryKind; readonly id: string; readonly at: number } | undefined {
  const [, kind, id = '', at] = /^sluice:([qa]):([^:]*):(\d+)$/.exec(name) ?? [];
  return kind === undefined ? undefined : { kind: kind === 'q' ? 'q' : 'a', id, at: Number(at) };
}

/** The place of a question, as messages name it. */
export function whereOf({ place }: Pick<QuestionRow, 'place'>): AnsweredPlace {
  return { ...place, conversationId: place.to };
}

/** Finds the question and the option that a press answers, of those of its conversation. */
export function pressedOf(
  rows: readonly QuestionRow[],
  { id, at }: { readonly id: string; readonly at: number },
): Found | undefined {
  const row = rows.find((one) => one.id === id);
  const answer = row?.options[at]?.id;
  return row === undefined || isClosed(row) || answer === undefined ? undefined : { row, answer };
}

/** Finds the newest question that takes a text as an answer, of those of its conversation (extensions-that-act §7.4). */
export function writtenOf(
  rows: readonly QuestionRow[],
  content: string,
  place: Pick<AnsweredPlace, 'threadId'>,
): Found | undefined {
  const text = content.trim();
  const thread = threadOf(place);
  if (rows.length === 0 || text === '' || parseCommandLine(text) !== undefined) return undefined;
  for (const row of rows.toReversed()) {
    if (isClosed(row) || threadOf(row.place) !== thread) continue;
    const chosen = optionOf(row.options, text);
    if (chosen !== undefined) return { row, answer: chosen.id };
    if (row.takesText) return { row, answer: text };
  }
  return undefined;
}

/** The thread of a place, as a text. */
export function threadOf({ threadId = '' }: Pick<AnsweredPlace, 'threadId'>): string {
  return String(threadId);
}

/** A question with the answer that it gets. */
export interface Found {
  readonly row: QuestionRow;
  readonly answer: string;
}

function optionOf(options: readonly QuestionOption[], text: string): QuestionOption | undefined {
  const same = (one: string): boolean => one.trim().toLowerCase() === text.toLowerCase();
  return (
    options.find(({ id, label }) => same(label) || same(id)) ??
    (/^\d{1,3}$/.test(text) ? options[Number(text) - 1] : undefined)
  );
}

/** A question that has an end. */
export type ClosedQuestion = QuestionRow & { readonly end: QuestionEnding };

/** Questions that one extension may have open (extensions-that-act §7.9). */
export const openAtMost = 1_000;

/** The questions of extensions, as they are kept: a namespace for each extension. */
export const questionKind: KindOfItems<QuestionRow> = {
  prefix: '/questions/',
  quota: { maxKeys: openAtMost, maxBytes: 64 * 1024 * 1024 },
  partOf: ({ extensionId }) => extensionId,
  isOpen: (row) => !isClosed(row),
  isItem: isKept<QuestionRow>({
    ...({ extensionId: 'string', name: 'string', place: 'object' } as const),
    ...({ options: 'object', takesText: 'boolean', digest: 'string' } as const),
  }),
};

/** Returns whether a question has its end. */
export function isClosed(row: QuestionRow): row is ClosedQuestion {
  return row.end !== undefined;
}

/** Returns whether an update has brought the end of one of some questions, also to a host before this one. */
export function isAnsweredBy(rows: readonly QuestionRow[], eventId: string): boolean {
  return rows.some(({ end }) => end?.by === eventId);
}
