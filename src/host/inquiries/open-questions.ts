import type {
  ExtensionMessage,
  KeyValueReader,
  QuestionOption,
  QuestionOutcome,
  QuestionPlace,
} from '@sluice/sdk/extension';
import { getOrMake, type ProvenSender } from 'sluice-kernel/internal';
import { hostError } from '../errors.js';
import { parseCommandLine } from '../provided/commands.js';
import { readRows } from './waiting-rows.js';

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

/** The things whose buttons the host reads itself: questions of extensions, and approvals. */
type Asked = 'q' | 'a';

/** Names the button of an option: at most 64 bytes, which is all that Telegram takes. */
export function buttonOf(questionId: string, at: number, asked: Asked = 'q'): string {
  return `sluice:${asked}:${questionId}:${at}`;
}

/** Reads the id of a button; nothing if it is no button of such a question. */
export function questionOfButton(
  name: string,
  asked: Asked = 'q',
): { readonly questionId: string; readonly at: number } | undefined {
  const prefix = `sluice:${asked}:`;
  if (!name.startsWith(prefix)) return undefined;
  const [questionId = '', at = ''] = name.slice(prefix.length).split(':');
  return { questionId, at: /^\d+$/.test(at) ? Number(at) : -1 };
}

/** The place of a question, as messages name it. */
export function whereOf({ place }: Pick<QuestionRow, 'place'>): AnsweredPlace {
  return { ...place, conversationId: place.to };
}

/** The open questions of a host, in the order in which they were asked. A look costs what its conversation has open. */
export class OpenQuestions {
  readonly #byId = new Map<string, QuestionRow>();
  readonly #byConversation = new Map<string, Map<string, QuestionRow>>();

  /** Adds a question; one that is there keeps its turn. */
  add(row: QuestionRow): void {
    const key = conversationKey(whereOf(row));
    getOrMake(this.#byConversation, key, () => new Map<string, QuestionRow>()).set(row.id, row);
    this.#byId.set(row.id, row);
  }

  delete({ id, place }: QuestionRow): void {
    const key = conversationKey(whereOf({ place }));
    const there = this.#byConversation.get(key);
    there?.delete(id);
    if (there?.size === 0) this.#byConversation.delete(key);
    this.#byId.delete(id);
  }

  /** The question of a name that is open in a conversation. */
  openOf(extensionId: string, name: string, place: QuestionRow['place']): QuestionRow | undefined {
    const thread = String(place.threadId ?? '');
    return this.at(whereOf({ place })).find(
      (row) =>
        row.extensionId === extensionId &&
        row.name === name &&
        String(row.place.threadId ?? '') === thread,
    );
  }

  /** Those of a conversation. */
  at(place: AnsweredPlace): readonly QuestionRow[] {
    return [...(this.#byConversation.get(conversationKey(place))?.values() ?? [])];
  }

  all(): readonly QuestionRow[] {
    return [...this.#byId.values()];
  }

  countOf(extensionId: string): number {
    return [...this.#byId.values()].filter((row) => row.extensionId === extensionId).length;
  }

  get(id: string): QuestionRow | undefined {
    return this.#byId.get(id);
  }

  /** Finds the question and the option that a press answers. */
  pressed(name: string, place: AnsweredPlace): Found | undefined {
    const pressed = questionOfButton(name);
    const row = this.#byId.get(pressed?.questionId ?? '');
    const answer = row?.options[pressed?.at ?? -1]?.id;
    if (row === undefined || answer === undefined) return undefined;
    const asked = conversationKey(whereOf(row));
    return asked === conversationKey(place) ? { row, answer } : undefined;
  }

  /** Finds the newest question that takes a text as an answer (extensions-that-act §7.4). */
  written(content: string, place: AnsweredPlace): Found | undefined {
    if (this.#byId.size === 0) return undefined; // each message comes here
    const there = this.at(place);
    if (there.length === 0) return undefined;
    const text = content.trim();
    if (text === '' || parseCommandLine(text) !== undefined) return undefined;
    const thread = String(place.threadId ?? '');
    for (const row of there.toReversed()) {
      if (String(row.place.threadId ?? '') !== thread) continue;
      const chosen = optionOf(row.options, text);
      if (chosen !== undefined) return { row, answer: chosen.id };
      if (row.takesText) return { row, answer: text };
    }
    return undefined;
  }
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

/** Names a conversation. */
export function conversationKey({
  channel,
  accountId = '',
  conversationId,
}: AnsweredPlace): string {
  return JSON.stringify([channel, accountId, conversationId]);
}

/** A question that has an end. */
export type ClosedQuestion = QuestionRow & { readonly end: QuestionEnding };

/** Keeps the job of an end. @returns whether it is persisted; if not, it is tried again. */
export type AcceptEnd = (closed: ClosedQuestion) => Promise<boolean>;

/** A question between its end and the end of the update that brought it. */
export interface Closing {
  readonly row: ClosedQuestion;
  isJobPersisted: boolean;
  isSettled: boolean;
}

/** Questions that one extension may have open (extensions-that-act §7.9). */
export const openAtMost = 1_000;

export const prefix = '/questions/';
export const quota = { maxKeys: 2 * openAtMost, maxBytes: 64 * 1024 * 1024 };

/** Reads the questions that a journal keeps, in the order in which they were asked. @param limit of each extension. */
export function openQuestionsOf(
  keyValues: KeyValueReader,
  limit = quota.maxKeys,
): Promise<readonly QuestionRow[]> {
  return readRows<QuestionRow>(keyValues, prefix, limit);
}

/** Returns whether a question has its end. */
export function isClosed(row: QuestionRow): row is ClosedQuestion {
  return row.end !== undefined;
}

/** The failure of one question too many. */
export function full(extensionId: string): Error {
  return hostError('question-full', { extensionId, openAtMost });
}
