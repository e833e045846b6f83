import type { KeyValueReader } from '../../extension/index.js';
import { hostError } from '../errors.js';
import { OpenQuestions, type QuestionEnding, type QuestionRow } from './open-questions.js';
import { readRows, retryAfterMs, WaitingRows, type WaitingRowsParts } from './waiting-rows.js';

/** A question that has an end. */
export type ClosedQuestion = QuestionRow & { readonly end: QuestionEnding };

/** Keeps the job of an end. @returns whether it is kept; if not, it is tried again. */
export type AcceptEnd = (closed: ClosedQuestion) => Promise<boolean>;

/** Questions that one extension may have open (extensions-that-act §7.9). */
export const openAtMost = 1_000;

const prefix = '/questions/';
const quota = { maxKeys: 2 * openAtMost, maxBytes: 64 * 1024 * 1024 };

/** Reads the questions that a journal keeps, in the order in which they were asked. @param limit of each extension. */
export function openQuestionsOf(
  keyValues: KeyValueReader,
  limit = quota.maxKeys,
): Promise<readonly QuestionRow[]> {
  return readRows<QuestionRow>(keyValues, prefix, limit);
}

/** A question between its end and the end of the update that brought it. */
interface Closing {
  readonly row: ClosedQuestion;
  isJobKept: boolean;
  isSettled: boolean;
}

/**
 * The questions of a host. The row of a question says all: it is open, or it has its end. An end is written into the row first,
 * so there is one. The row goes when the job of the end is kept and the update that brought it has ended: whichever host
 * takes that update up again knows that it was an answer.
 */
export class Questions {
  readonly open = new OpenQuestions();
  readonly #parts: WaitingRowsParts;
  readonly #rows: WaitingRows<QuestionRow>;
  readonly #closing = new Map<string, Closing>();
  /** Ids of questions by the event ids of the updates that answered them. */
  readonly #answeredBy = new Map<string, string>();
  #accept: AcceptEnd = async () => false;

  constructor(parts: WaitingRowsParts) {
    this.#parts = parts;
    this.#rows = new WaitingRows(parts, {
      prefix,
      quota,
      partOf: ({ extensionId }) => extensionId,
      expire: (row) => this.close(row, { status: 'expired' }),
    });
  }

  /** Reads the questions that a host before this one left, in the order in which they were asked. */
  async load(accept: AcceptEnd): Promise<void> {
    this.#accept = accept;
    for (const row of await openQuestionsOf(this.#parts.keyValues))
      if (isClosed(row)) this.#claim(row);
      else this.open.add(row);
  }

  /**
   * Waits for the deadlines, and brings the ends to their jobs that were left without one.
   *
   * @param isOpen tells whether an update has not ended yet.
   */
  async begin(isOpen: (eventId: string) => Promise<boolean>): Promise<void> {
    this.#rows.start(this.open.all());
    for (const { row } of [...this.#closing.values()]) {
      const { by } = row.end;
      if (by !== undefined && !(await isOpen(by))) this.settled(by);
      await this.#finish(row);
    }
  }

  /** Waits for nothing more. What is open stays in the journal. */
  stop(): void {
    this.#rows.stop();
  }

  /** Keeps a question, which is open from the call on. @throws SluiceError `question-full`, and as the journal does. */
  async add(row: QuestionRow): Promise<void> {
    const { extensionId } = row;
    if (this.open.countOf(extensionId) >= openAtMost) throw full(extensionId);
    this.open.add(row);
    try {
      await this.#write(row);
    } catch (error) {
      this.open.delete(row);
      throw error;
    }
    this.#rows.arm(row);
    this.#tell(row, 'asked');
  }

  /** Notes that the message of a question is kept, so that no other host sends it. */
  async noteSent({ id }: QuestionRow): Promise<void> {
    const row = this.open.get(id);
    if (row === undefined) return;
    const { message: _, ...sent } = row;
    this.open.add(sent);
    await this.#write(sent);
  }

  /** Takes a question back that was not sent. */
  async withdraw(row: QuestionRow): Promise<void> {
    this.open.delete(row);
    this.#rows.disarm(row.id);
    await this.#rows.remove(row);
  }

  /**
   * Gives a question its end, if it is open.
   *
   * @returns whether this is its end; it is kept then.
   * @throws as the journal does: the question is open as before.
   */
  async close({ id }: QuestionRow, end: QuestionEnding): Promise<boolean> {
    const row = this.open.get(id);
    if (row === undefined) return false;
    const closed = { ...row, end };
    this.open.delete(row);
    this.#claim(closed); // before anything waits: there is one end
    try {
      await this.#write(closed);
    } catch (error) {
      this.#closing.delete(id);
      if (end.by !== undefined) this.#answeredBy.delete(end.by);
      this.open.add(row);
      throw error;
    }
    this.#rows.disarm(id);
    this.#tell(row, end.status);
    void this.#finish(closed);
    return true;
  }

  /** Tells whether a question has an end whose job or whose update has none yet. */
  isClosing(id: string): boolean {
    return this.#closing.has(id);
  }

  /** Tells whether an update has brought an answer, also to a host before this one. */
  isAnsweredBy(eventId: string): boolean {
    return this.#answeredBy.has(eventId);
  }

  /** An update has ended, and does not come again. */
  settled(eventId: string): void {
    const id = this.#answeredBy.get(eventId);
    const closing = this.#closing.get(id ?? '');
    if (closing === undefined) return;
    closing.isSettled = true;
    void this.#drop(closing);
  }

  #claim(row: ClosedQuestion): void {
    const { by } = row.end;
    this.#closing.set(row.id, { row, isJobKept: false, isSettled: by === undefined });
    if (by !== undefined) this.#answeredBy.set(by, row.id);
  }

  async #finish(row: ClosedQuestion): Promise<void> {
    const closing = this.#closing.get(row.id);
    if (closing === undefined) return;
    try {
      closing.isJobKept = await this.#accept(row);
    } catch (error) {
      this.#parts.logger.error('the end of a question could not be kept', { error });
    }
    if (closing.isJobKept) await this.#drop(closing);
    else this.#rows.later(row.id, retryAfterMs, () => this.#finish(row));
  }

  async #drop({ row, isJobKept, isSettled }: Closing): Promise<void> {
    const { id, end } = row;
    if (!isJobKept || !isSettled || !this.#closing.delete(id)) return;
    if (end.by !== undefined) this.#answeredBy.delete(end.by);
    try {
      await this.#rows.remove(row);
    } catch (error) {
      // the next host finds its end in the journal, and drops it
      this.#parts.logger.warn('a question that is answered could not be dropped', { error });
    }
  }

  #tell({ id, extensionId, name }: QuestionRow, state: string): void {
    this.#parts.way?.record(() => ({
      ...{ kind: 'question', of: 'extension', id, correlationId: id, state },
      title: `${extensionId}/${name}`,
    }));
  }

  async #write(row: QuestionRow): Promise<void> {
    const { status } = await this.#rows.write(row);
    if (status !== 'written') throw full(row.extensionId);
  }
}

function isClosed(row: QuestionRow): row is ClosedQuestion {
  return row.end !== undefined;
}

function full(extensionId: string): Error {
  return hostError('question-full', { extensionId, openAtMost });
}
