import type { Ownership } from '@sluice/journal';
import {
  type AcceptEnd,
  type AnsweredPlace,
  type ClosedQuestion,
  type Closing,
  conversationKey,
  full,
  isClosed,
  OpenQuestions,
  openAtMost,
  openQuestionsOf,
  prefix,
  type QuestionEnding,
  type QuestionRow,
  quota,
  whereOf,
} from './open-questions.js';
import { QuestionIndex } from './question-index.js';
import { retryAfterMs, WaitingRows, type WaitingRowsParts } from './waiting-rows.js';

/**
 * The questions of a host. The row of a question says all: it is open, or it has its end. An end is written into the row first,
 * so there is one. The row goes when the job of the end is persisted and the update that brought it has ended: whichever host
 * takes that update up again knows that it was an answer.
 */
export class Questions {
  readonly open = new OpenQuestions();
  readonly #parts: WaitingRowsParts;
  readonly #rows: WaitingRows<QuestionRow>;
  readonly #closing = new Map<string, Closing>();
  /** Ids of questions by the event ids of the updates that answered them. */
  readonly #answeredBy = new Map<string, string>();
  readonly #ownership: Ownership;
  readonly #index: QuestionIndex;
  /** Other hosts may ask and end questions, too. */
  readonly #isShared: boolean;
  #left = new Set<string>();
  #accept: AcceptEnd = async () => false;

  constructor(parts: WaitingRowsParts, ownership: Ownership) {
    this.#parts = parts;
    this.#ownership = ownership;
    this.#isShared = ownership.partitionCount > 1;
    this.#index = new QuestionIndex(parts.keyValues);
    const shared = { ...quota, maxKeys: openAtMost };
    this.#rows = new WaitingRows(parts, {
      prefix,
      quota: this.#isShared ? shared : quota,
      partitionOf: ({ extensionId }) => extensionId,
      expire: (row) => this.close(row, { status: 'expired' }),
    });
  }

  /** Reads the questions that a host before this one left, in the order in which they were asked. */
  async load(accept: AcceptEnd): Promise<void> {
    this.#accept = accept;
    if (this.#isShared) return; // others are there: see `sweep`
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

  /** Reads the questions of a conversation: other hosts may have asked or ended some. @throws as the journal does. */
  async look(place: AnsweredPlace): Promise<void> {
    if (!this.#isShared) return;
    const { names } = await this.#index.read(conversationKey(place));
    const found = names.map(({ extensionId, id }) => this.#rows.find(extensionId, id));
    const rows = await Promise.all(found);
    const before = this.open.at(place);
    for (const row of before) this.open.delete(row);
    for (const persisted of rows) if (persisted !== undefined) this.#meet(persisted.row);
    for (const row of before) if (this.open.get(row.id) === undefined) this.#forget(row);
  }

  #forget(row: QuestionRow): void {
    this.open.delete(row); // another host has ended it
    if (!this.#closing.has(row.id)) this.#rows.disarm(row.id);
  }

  /** A row as the journal has it now. Any host that reads an answer also schedules its job, because the host that wrote the answer may have crashed. */
  #meet(row: QuestionRow): void {
    if (!isClosed(row)) return void this.open.add(row);
    this.open.delete(row);
    if (this.#closing.has(row.id)) return;
    this.#rows.disarm(row.id); // of its deadline
    this.#claim(row);
    void this.#finish(row);
  }

  /**
   * Takes over what dead hosts have left, of the questions whose partition this host has: their deadlines, ends without a job, and
   * questions that were not sent. What two sweeps in a row find without a change was left.
   *
   * @param isOpen tells whether an update has not ended yet.
   * @returns the questions to send.
   * @throws as the journal does.
   */
  async sweep(isOpen: (eventId: string) => Promise<boolean>): Promise<readonly QuestionRow[]> {
    const rows = await openQuestionsOf(this.#parts.keyValues);
    const there = new Map(rows.map((row) => [row.id, row]));
    for (const row of this.open.all())
      if (there.get(row.id)?.end !== undefined || !there.has(row.id)) this.#forget(row);
    for (const [id, closing] of this.#closing) {
      const { by } = closing.row.end;
      if (!there.has(id)) this.#unclaim(closing.row);
      else if (by !== undefined && !(await isOpen(by))) this.settled(by);
    }
    const before = this.#left;
    const ownFence = (id: string) => this.#ownership.fenceOf(this.#ownership.slotOf(id));
    const own = rows.filter(({ id }) => ownFence(id) !== undefined);
    const left = own.filter((row) => isClosed(row) || row.message !== undefined);
    this.#left = new Set(left.map(({ id }) => id));
    for (const row of own)
      if (!isClosed(row)) {
        this.open.add(row);
        this.#rows.arm(row);
      } else if (before.has(row.id)) this.#meet(row);
    const unsent = left.filter((row) => !isClosed(row) && before.has(row.id));
    for (const row of unsent) await this.#addShared(row);
    return unsent;
  }

  /** Waits for nothing more. What is open stays in the journal. */
  stop(): void {
    this.#rows.stop();
  }

  /**
   * Keeps a question, which is open from the call on.
   *
   * @returns the one that is open in its place, if another host was faster: it may be the same one.
   * @throws SluiceError `question-full`, and as the journal does.
   */
  async add(row: QuestionRow): Promise<QuestionRow | undefined> {
    const { extensionId } = row;
    if (this.open.countOf(extensionId) >= openAtMost) throw full(extensionId);
    const other = this.#isShared ? await this.#addShared(row) : undefined;
    if (other !== undefined) return other;
    this.open.add(row);
    try {
      if (!this.#isShared && (await this.#rows.write(row)).status !== 'written')
        throw full(extensionId);
    } catch (error) {
      this.open.delete(row);
      throw error;
    }
    this.#rows.arm(row);
    this.#report(row, 'asked');
    return undefined;
  }

  /** Keeps a question that no other host asks meanwhile: the row first, then its place in the index. A host may die in between. */
  async #addShared(row: QuestionRow): Promise<QuestionRow | undefined> {
    const { id, extensionId, name, place } = row;
    const { status } = await this.#rows.write(row, { expected: null });
    if (status === 'full') throw full(extensionId);
    const other = await this.#index.add(conversationKey(whereOf(row)), row, async () => {
      await this.look(whereOf(row));
      const open = this.open.openOf(extensionId, name, place);
      return open?.id === id ? undefined : open;
    });
    if (other !== undefined && status === 'written') await this.#rows.remove(row);
    if (other === 'full') throw full(extensionId);
    return other ?? (status === 'conflict' ? (await this.#rows.read(row))?.row : undefined);
  }

  /** Notes that the message of a question is persisted, so that no other host sends it. @returns whether the question is there. */
  async noteSent(row: QuestionRow): Promise<boolean> {
    const sent = await this.#rows.change(row, ({ message: _, ...now }) =>
      isClosed(now) ? undefined : now,
    );
    if (sent !== undefined && this.open.get(row.id) !== undefined) this.open.add(sent);
    return sent !== undefined || !this.#isShared;
  }

  /** Takes a question back that was not sent. @returns whether it is open no more; not if another host has sent it. */
  async withdraw(row: QuestionRow): Promise<boolean> {
    const isShared = this.#isShared;
    const persisted = isShared ? await this.#rows.read(row) : undefined;
    if (persisted !== undefined && (isClosed(persisted.row) || persisted.row.message === undefined))
      return false;
    this.open.delete(row);
    this.#rows.disarm(row.id);
    return this.#remove(row, isShared ? { expected: persisted?.version ?? null } : {});
  }

  /**
   * Gives a question its end, if it is open.
   *
   * @returns whether this is its end; it is persisted then.
   * @throws as the journal does: the question is open as before.
   */
  async close({ id }: QuestionRow, end: QuestionEnding): Promise<boolean> {
    const row = this.open.get(id);
    if (row === undefined) return false;
    this.open.delete(row);
    const closed = { ...row, end };
    this.#claim(closed); // before anything waits: there is one end
    const ended = await this.#rows
      .change(row, (now) => (isClosed(now) ? undefined : { ...now, end }))
      .catch((error: unknown) => {
        this.#unclaim(closed);
        this.open.add(row);
        throw error;
      });
    if (ended === undefined) {
      this.#unclaim(closed); // another host has ended it
      await this.look(whereOf(row));
      return false;
    }
    this.#rows.disarm(id);
    this.#report(row, end.status);
    const finished = this.#finish(closed);
    if (this.#isShared) await finished; // no other host looks for it at once
    return true;
  }

  /** Returns whether a question has an end whose job, or whose update, has none. */
  isClosing(id: string): boolean {
    return this.#closing.has(id);
  }

  /** Returns whether an update has brought an answer, also to a host before this one. */
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
    this.#closing.set(row.id, { row, isJobPersisted: false, isSettled: by === undefined });
    if (by !== undefined) this.#answeredBy.set(by, row.id);
  }

  #unclaim({ id, end }: ClosedQuestion): void {
    this.#closing.delete(id);
    if (end.by !== undefined) this.#answeredBy.delete(end.by);
  }

  async #finish(row: ClosedQuestion): Promise<void> {
    const closing = this.#closing.get(row.id);
    if (closing === undefined) return;
    try {
      closing.isJobPersisted = await this.#accept(row);
    } catch (error) {
      this.#parts.logger.error('the end of a question could not be persisted', { error });
    }
    if (closing.isJobPersisted) await this.#drop(closing);
    else this.#rows.later(row.id, retryAfterMs, () => this.#finish(row));
  }

  async #drop({ row, isJobPersisted, isSettled }: Closing): Promise<void> {
    if (!isJobPersisted || !isSettled || !this.#closing.has(row.id)) return;
    this.#unclaim(row);
    try {
      await this.#remove(row);
    } catch (error) {
      // the next host finds its end in the journal, and drops it
      this.#parts.logger.warn('a question that is answered could not be dropped', { error });
    }
  }

  async #remove(row: QuestionRow, given = {}): Promise<boolean> {
    if ((await this.#rows.remove(row, given)).status !== 'written') return false;
    const isThere = async () => (await this.#rows.read(row)) !== undefined; // another host has asked it again
    const place = conversationKey(whereOf(row));
    if (this.#isShared) await this.#index.remove(place, row, isThere);
    return true;
  }

  #report({ id, extensionId, name }: QuestionRow, state: string): void {
    this.#parts.timeline?.record(() => ({
      ...{ kind: 'question', of: 'extension', id, correlationId: id, state },
      title: `${extensionId}/${name}`,
    }));
  }
}
