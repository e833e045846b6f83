import type { KeyValueReader } from '@sluice/sdk/extension';
import { hostError } from '../errors.js';
import type { QuestionEnding, QuestionRow } from './open-questions.js';
import { readRows } from './waiting-rows.js';

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
