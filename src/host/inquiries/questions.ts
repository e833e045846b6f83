import type { Ownership } from '@sluice/journal';
import pLimit from 'p-limit';
import { hostError } from '../errors.js';
import { KeptItems, type KeptItemsParts, retryAfterMs } from './kept-items.js';
import { entryOf, QuestionIndex, type QuestionName } from './question-index.js';
import {
  type AnsweredPlace,
  type ClosedQuestion,
  isClosed,
  openAtMost,
  type QuestionEnding,
  type QuestionRow,
  questionKind,
  threadOf,
  whereOf,
} from './question-row.js';

/** A question between its end and the end of the update that brought it. */
interface Closing {
  readonly row: ClosedQuestion;
  isJobPersisted: boolean;
  isSettled: boolean;
}

/** The acts of a host that questions need. */
export interface QuestionActs {
  /** Keeps the job of an end. @returns whether it is persisted; if not, it is tried again. */
  readonly accept: (closed: ClosedQuestion) => Promise<boolean>;
  /** Returns whether an update has not ended yet. */
  readonly isOpen: (eventId: string) => Promise<boolean>;
}

/**
 * The questions of extensions. The row of a question says all: it is open, or it has its end. An end is written into the row first,
 * so there is one. The row goes when the job of the end is persisted and the update that brought it has ended: whichever host
 * claims that update again knows that it was an answer.
 */
export class Questions extends KeptItems<QuestionRow> {
  readonly #index: QuestionIndex;
  readonly #ownership: Ownership;
  /** The ids of the questions whose rows this host has seen: all of them, if no other host is there. */
  readonly #known = new Set<string>();
  readonly #closing = new Map<string, Closing>();
  #acts: QuestionActs = { accept: async () => false, isOpen: async () => true };

  constructor(parts: KeptItemsParts, ownership: Ownership) {
    super(parts, questionKind);
    this.#ownership = ownership;
    this.#index = new QuestionIndex(parts.keyValues);
  }

  protected override async expire(row: QuestionRow): Promise<void> {
    if (await this.close(row, { status: 'expired' })) return;
    const now = await this.read(row);
    if (now !== undefined && isClosed(now)) await this.#finish(now); // the host that has ended it may have died
  }

  /** Lets questions be asked and answered from now on. */
  begin(acts: QuestionActs): void {
    this.#acts = acts;
    this.start();
  }

  /** Returns whether there is no question at all, so that nobody need look: a host that is alone knows of each. */
  get areNone(): boolean {
    return this.#ownership.partitionCount === 1 && this.#known.size === 0;
  }

  /**
   * Reads the questions of a thread of a conversation, in the order in which they were asked, or that with an id, whatever its thread.
   *
   * @throws as the journal does.
   */
  async at(place: AnsweredPlace, only?: string): Promise<readonly QuestionRow[]> {
    if (this.areNone) return [];
    const isMeant = ({ id, thread = threadOf(place) }: QuestionName): boolean =>
      only === undefined ? thread === threadOf(place) : id === only;
    const names = (await this.#index.read(entryOf(place))).filter(isMeant);
    const read = ({ extensionId, id }: QuestionName) => this.find(extensionId, id);
    const rows = (await pLimit(8).map(names, read)).flatMap((row) => row ?? []);
    // the host that has written an end may have crashed: any host that reads it also schedules its job
    for (const row of rows)
      if (isClosed(row) && !this.#closing.has(row.id))
        this.#finish(row).catch((error: unknown) =>
          this.parts.logger.warn('the end of a question could not be looked at', { error }),
        );
    return rows;
  }

  /**
   * Takes over what hosts before this one have left: deadlines, ends without a job, and questions that were not sent. Their hosts
   * may have died in between two steps.
   *
   * @param isTaken says whether this host has taken the partition of a slot now.
   * @returns the questions to send.
   * @throws as the journal does.
   */
  async take(isTaken: (slot: number) => boolean): Promise<readonly QuestionRow[]> {
    const placed = await this.#index.all();
    const all = await this.load();
    const there = new Set(all.map(({ id }) => id));
    for (const name of placed) if (!there.has(name.id)) await this.#removePlace(name.entry, name);
    const inPlace = new Set(placed.map(({ id }) => id));
    const rows = all.filter(({ id, slot = this.#ownership.slotOf(id) }) => isTaken(slot));
    for (const row of rows) {
      this.#known.add(row.id);
      if (!inPlace.has(row.id)) await this.#index.add(entryOfRow(row), row, async () => undefined);
      if (isClosed(row)) await this.#finish(row);
      else this.arm(row);
    }
    return rows.filter((row) => !isClosed(row) && row.message !== undefined);
  }

  /**
   * Keeps a question that nobody else asks meanwhile: the row first, then its place in the index. A host may die in between.
   *
   * @returns the question that is open in its place: this one, the same one of another call, or another one.
   * @throws SluiceError `question-full`, and as the journal does: then it is not open.
   */
  async add(row: QuestionRow): Promise<QuestionRow> {
    const { id, extensionId, name, place } = row;
    const keeping = (now?: QuestionRow) => (now === undefined ? row : undefined);
    const { status, was: there = row } = await this.items.change(this.rowOf(row), keeping);
    const isNew = status === 'written';
    if (status !== 'full') this.#known.add(id);
    const look = async (): Promise<QuestionRow | undefined> =>
      (await this.at(whereOf(row))).find(
        (one) =>
          one.id !== id &&
          one.extensionId === extensionId &&
          one.name === name &&
          !isClosed(one) &&
          threadOf(one.place) === threadOf(place),
      );
    const withdrawn = async (error: unknown): Promise<never> => {
      if (isNew) await this.remove(row).catch(() => undefined);
      throw error;
    };
    const add = () => this.#index.add(entryOfRow(row), row, look).catch(withdrawn);
    const other = status === 'full' ? status : await add();
    if (isNew && other !== undefined) await this.remove(row);
    if (other === 'full') throw hostError('question-full', { extensionId, openAtMost });
    if (other !== undefined) return other;
    if (isNew) await this.#stayOwn(row).catch(withdrawn);
    if (!isClosed(there)) this.arm(there);
    if (isNew) this.#report(row, 'asked');
    return there;
  }

  /** Moves a question whose partition was taken while it was asked to another one: who has taken that may have read its questions before. */
  async #stayOwn(row: QuestionRow): Promise<void> {
    const { slot: asked = this.#ownership.slotOf(row.id) } = row;
    const [slot] = this.#ownership.partitions(); // the number of a partition is one of its slots
    if (slot === undefined || this.#ownership.fenceOf(asked) !== undefined) return;
    const moved = await this.change(row, (now) => (isClosed(now) ? undefined : { ...now, slot }));
    if (moved !== undefined) await this.#stayOwn(moved);
  }

  /**
   * Notes that the message of a question is persisted, so that no other host sends it. Never rejects: it is sent once in any case.
   *
   * @returns whether the question is open, as far as the journal says.
   */
  async noteSent(row: QuestionRow): Promise<boolean> {
    const next = ({ message: _, ...now }: QuestionRow) => (isClosed(now) ? undefined : now);
    try {
      return (await this.change(row, next)) !== undefined;
    } catch (error) {
      const { extensionId, name: question } = row;
      const about = { extensionId, question, error };
      this.parts.logger.warn('a question is asked, and the journal could not note it', about);
      return true;
    }
  }

  /** Takes a question back that was not sent. @returns whether it is open no more; not if another host has sent it. */
  async withdraw(row: QuestionRow): Promise<boolean> {
    const isUnsent = (now: QuestionRow) => !isClosed(now) && now.message !== undefined;
    const taken = await this.change(row, (now) => (isUnsent(now) ? null : undefined));
    const isGone = taken !== undefined || (await this.read(row)) === undefined;
    if (isGone) this.#forget(row.id);
    if (isGone) await this.#removePlace(entryOfRow(row), row);
    return isGone;
  }

  /**
   * Gives a question its end, if it is open.
   *
   * @returns whether this is its end; it is persisted then.
   * @throws as the journal does: the question is open as before.
   */
  async close(row: QuestionRow, end: QuestionEnding): Promise<boolean> {
    const next = (now: QuestionRow) => (isClosed(now) ? undefined : { ...now, end });
    const ended = await this.change(row, next);
    if (ended === undefined) return false;
    this.#report(row, end.status);
    await this.#take({ ...ended, end }); // no other host looks for it at once
    return true;
  }

  /** Returns whether a question has an end whose job, or whose update, has none. */
  isClosing(id: string): boolean {
    return this.#closing.has(id);
  }

  /** An update has ended, and does not come again. */
  settled(eventId: string): void {
    for (const closing of this.#closing.values())
      if (closing.row.end.by === eventId) {
        closing.isSettled = true;
        void this.#drop(closing);
      }
  }

  /** Brings a question with an end further. @throws as the journal does. */
  async #finish(row: ClosedQuestion): Promise<void> {
    const { by } = row.end;
    if (!this.#closing.has(row.id)) await this.#take(row);
    if (by !== undefined && !(await this.#acts.isOpen(by))) this.settled(by);
  }

  /** Keeps the job of an end, which is this host's to keep. Never rejects: it is tried again. */
  async #take(row: ClosedQuestion): Promise<void> {
    const closing = { row, isJobPersisted: false, isSettled: row.end.by === undefined };
    this.disarm(row.id); // of its deadline
    this.#known.add(row.id);
    this.#closing.set(row.id, closing);
    const keep = async (): Promise<void> => {
      try {
        closing.isJobPersisted = await this.#acts.accept(row);
      } catch (error) {
        this.parts.logger.error('the end of a question could not be persisted', { error });
      }
      if (closing.isJobPersisted) await this.#drop(closing);
      else this.later(row.id, retryAfterMs, keep);
    };
    await keep();
  }

  async #drop({ row, isJobPersisted, isSettled }: Closing): Promise<void> {
    if (!isJobPersisted || !isSettled || !this.#closing.delete(row.id)) return;
    try {
      await this.remove(row);
    } catch (error) {
      // the next host finds its end in the journal, and drops it
      this.parts.logger.warn('a question that is answered could not be dropped', { error });
    }
  }

  protected override async remove(row: QuestionRow): Promise<void> {
    await super.remove(row);
    this.#forget(row.id);
    await this.#removePlace(entryOfRow(row), row);
  }

  async #removePlace(entry: string, name: QuestionName): Promise<void> {
    const { extensionId, id } = name;
    const isThere = async () => (await this.find(extensionId, id)) !== undefined; // another host has asked it again
    await this.#index.remove(entry, name, isThere);
  }

  #forget(id: string): void {
    if (this.#closing.has(id)) return; // it has its end here
    this.#known.delete(id);
    this.disarm(id);
  }

  #report({ id, extensionId, name }: QuestionRow, state: string): void {
    this.parts.timeline?.record(() => ({
      ...{ kind: 'question', of: 'extension', id, correlationId: id, state },
      title: `${extensionId}/${name}`,
    }));
  }
}

function entryOfRow(row: QuestionRow): string {
  return entryOf(whereOf(row));
}
