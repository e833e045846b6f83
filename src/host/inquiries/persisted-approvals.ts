import type { Fence, Ownership } from '@sluice/journal';
import { wholeOwnership } from '@sluice/journal/internal';
import pLimit from 'p-limit';
import {
  type ApprovalEnd,
  type ApprovalRow,
  type ApprovalState,
  approvalsAtMost,
  shortIdOf,
} from './approval-row.js';
import { Grants } from './grants.js';
import { HostSign } from './host-sign.js';
import { isKept, KeptItems, type KeptItemsParts } from './kept-items.js';

const isApproval = isKept<ApprovalRow>({
  ...({ state: 'string', correlationId: 'string', eventId: 'string' } as const),
  ...({ family: 'string', question: 'object', payload: 'string' } as const),
});

/**
 * The questions to humans of a host. Each change of state is made once, in the journal, so that an operator may answer beside a
 * running host. The rows of a message go when it has ended.
 */
export class PersistedApprovals extends KeptItems<ApprovalRow> {
  /** The answers that hold for later questions, too. */
  readonly grants: Grants;
  /** The questions of messages that are handled here, by id. */
  readonly #rows = new Map<string, ApprovalRow>();
  /** The fences under which these messages are handled, by correlation id. */
  readonly #fences = new Map<string, Fence>();
  /** The lanes of those that are not begun before their questions are answered. */
  readonly #blocked = new Map<string, string>();
  readonly #waiting = new Set<() => void>();
  readonly #leaving = new AbortController();
  readonly sign: HostSign;
  #isClosed = false;
  #isToLook = false; // the rows could not be read when there may have been answers
  /** Called when a question has its end. */
  onEnd: (row: ApprovalRow) => void = () => undefined;
  /** Called when an answer was allowed and not used when its message ended. */
  onUnused: (row: ApprovalRow) => void = () => undefined;

  /** @param ownership absent beside a host. */
  constructor(parts: KeptItemsParts, ownership: Ownership = wholeOwnership()) {
    super(parts, {
      prefix: '/approvals/',
      quota: { maxKeys: 2 * approvalsAtMost, maxBytes: 256 * 1024 * 1024 },
      partOf: () => 'asked',
      isOpen: ({ state }) => state === 'pending',
      isItem: isApproval,
    });
    this.grants = new Grants(parts);
    this.sign = new HostSign(parts.keyValues, ownership, '/approvals-answered');
  }

  protected override async expire(row: ApprovalRow): Promise<void> {
    if (this.#isHeld(row)) await this.end(row, { state: 'expired' });
  }

  /** Takes the rows of a message over that a host before this one left. */
  async take(correlationId: string, rows: readonly ApprovalRow[], fence: Fence): Promise<void> {
    this.forget(correlationId);
    for (const row of rows) {
      this.#keep(row, fence);
      if (row.state === 'pending') this.arm(row);
    }
    for (const row of rows) await this.grants.keep(row); // somebody may have answered while no host looked
  }

  /** Aborted when the host stops and what waits for a person is left to the next host. */
  get leaving(): AbortSignal {
    return this.#leaving.signal;
  }

  /** Nobody can answer any more: what is pending is withdrawn, and nothing more is asked. Never rejects. */
  async close(): Promise<void> {
    this.#isClosed = true;
    const end = { state: 'withdrawn', reason: 'nobody is there to answer' } as const;
    await pLimit(8).map(this.pending(), (row) => this.end(row, end).catch(() => undefined));
  }

  /** Leaves what waits for a person to the next host. */
  leave(): void {
    this.#leaving.abort();
  }

  /** A question of any host of the journal, as it is now. @throws as the journal does. */
  byId(id: string): Promise<ApprovalRow | undefined> {
    return this.find('asked', id);
  }

  /** The questions of this host that nobody has answered, in the order in which they were asked. */
  pending(): readonly ApprovalRow[] {
    return [...this.#rows.values()].filter(({ state }) => state === 'pending');
  }

  /** The messages with rows whose partitions this host has lost. */
  lost(): readonly string[] {
    return [...this.#fences].flatMap(([id, { signal }]) => (signal.aborted ? id : []));
  }

  /** The fence under which a message with questions is handled here. */
  fenceOf(correlationId: string): Fence | undefined {
    return this.#fences.get(correlationId);
  }

  of(correlationId: string): readonly ApprovalRow[] {
    return [...this.#rows.values()].filter((row) => row.correlationId === correlationId);
  }

  /** Returns whether a question of a message has no end yet. */
  isAsked(correlationId: string): boolean {
    return this.pending().some((row) => row.correlationId === correlationId);
  }

  /** Keeps that a message is not begun before its questions are answered. @returns whether one is open. */
  block(correlationId: string, lane: string): boolean {
    const isAsked = this.isAsked(correlationId);
    if (isAsked) this.#blocked.set(correlationId, lane);
    return isAsked;
  }

  /** @returns the lane that it was held in. */
  release(correlationId: string): string | undefined {
    const lane = this.#blocked.get(correlationId);
    this.#blocked.delete(correlationId);
    return lane;
  }

  /** Returns whether a message of a lane waits for an answer before it is begun. */
  blocks(lane: string): boolean {
    return [...this.#blocked.values()].includes(lane);
  }

  /** Keeps a question before anybody is asked. @returns whether there is room for it. @throws as the journal does. */
  async add(row: ApprovalRow, fence: Fence): Promise<boolean> {
    if (this.#isClosed || this.#rows.size >= approvalsAtMost) return false;
    if ((await this.items.write(this.rowOf(row, fence.signal), row)) !== 'written') return false;
    this.#keep(row, fence);
    this.#report(row);
    this.arm(row);
    return true;
  }

  /** Notes that the message of a question is sent. Never rejects: the next host sends it again otherwise. */
  async noteSent(row: ApprovalRow): Promise<void> {
    try {
      const sent = await this.change(row, ({ isUnsent: _, ...now }) => now);
      if (sent !== undefined) this.#keep(sent);
    } catch (error) {
      const told = { id: row.id, error };
      this.parts.logger.warn('a question is asked, and the journal could not note it', told);
    }
  }

  /**
   * Gives a question its end, if it has none. @param signal of the fence of the run that asks; absent if a person, or its time, has
   * ended it. @returns the row; nothing if it has its end already. @throws as the journal does: it is pending as before.
   */
  async end(row: ApprovalRow, end: ApprovalEnd, signal?: AbortSignal) {
    const endedAtMs = this.parts.clock.now();
    const ended = await this.#become(row, ['pending'], { ...end, endedAtMs }, signal);
    if (ended === undefined) await this.look(row);
    else await this.#take(ended);
    return ended;
  }

  /** Takes a row from one of some states to the next, in one step with the look at it. @throws as the journal does. */
  #become(
    row: ApprovalRow,
    from: readonly ApprovalState[],
    end: ApprovalEnd & Partial<Pick<ApprovalRow, 'endedAtMs'>>,
    signal?: AbortSignal,
  ): Promise<ApprovalRow | undefined> {
    const next = (now: ApprovalRow) => (from.includes(now.state) ? { ...now, ...end } : undefined);
    return this.change(row, next, signal);
  }

  /**
   * Notes that an answer is used, before the action, under the fence of the run that uses it. @param isAgain the call before this one
   * has failed, and may have noted it. @returns whether it may be used. @throws as the journal does.
   */
  async use(row: ApprovalRow, { signal }: Fence, isAgain: boolean): Promise<boolean> {
    const from: readonly ApprovalState[] = isAgain ? ['allowed', 'used'] : ['allowed'];
    const used = await this.#become(row, from, { state: 'used' }, signal);
    if (used === undefined || signal.aborted) return false;
    this.#keep(used);
    this.#report(used);
    return true;
  }

  /** Resolves when a question has its end, or when a signal aborts. @returns the row as it is then. */
  async ended(row: ApprovalRow, signal: AbortSignal): Promise<ApprovalRow | undefined> {
    await new Promise<void>((resolve) => {
      const look = (): void => {
        if (this.#rows.get(row.id)?.state === 'pending' && !signal.aborted) return;
        this.#waiting.delete(look);
        resolve();
      };
      this.#waiting.add(look);
      signal.addEventListener('abort', look, { once: true });
      look();
    });
    return this.#rows.get(row.id);
  }

  /** Reads what others have written: one row, or all that have no end here. Never rejects. */
  async look(one?: ApprovalRow): Promise<void> {
    try {
      for (const row of one === undefined ? this.pending() : [one]) {
        const kept = await this.read(row);
        if (kept !== undefined && kept.state !== row.state) await this.#take(kept);
      }
      if (one === undefined) this.#isToLook = false;
    } catch (error) {
      this.#isToLook = true; // no other sign may come
      this.parts.logger.error('the answers to questions could not be read', { error });
    }
  }

  /** Returns whether another host may have taken an answer to a question of this one since the last call. @throws as the journal does. */
  async areAnswered(): Promise<boolean> {
    return this.pending().length > 0 && ((await this.sign.isNew()) || this.#isToLook);
  }

  /** A message has ended: what was allowed and not used is told, and its rows go. Never rejects. */
  async settled(correlationId: string): Promise<void> {
    for (const row of this.of(correlationId))
      try {
        if (row.state === 'pending') await this.end(row, { state: 'withdrawn' });
        const unused = await this.#become(row, ['allowed'], { state: 'unused' });
        if (unused !== undefined) {
          this.#report(unused);
          this.onUnused(unused);
        }
        await this.remove(row);
        this.#forget(row);
      } catch (error) {
        // the next host finds that its message has ended
        this.parts.logger.warn('an approval could not be dropped', { id: row.id, error });
      }
  }

  /** Takes a row whose question has its end. The grant of it is persisted first: the action may come again at once. */
  async #take(row: ApprovalRow): Promise<void> {
    try {
      if (row.always !== undefined && !(await this.grants.keep(row)))
        this.parts.logger.warn('an "always" is not kept: there are too many, or it was revoked', {
          approval: shortIdOf(row),
        });
    } catch (error) {
      this.parts.logger.error('an "always" could not be kept', { id: row.id, error });
    }
    if (!this.#isHeld(row)) await this.sign.give(); // its message is another host's, also if it was here until now
    if (this.#rows.get(row.id) === undefined) return;
    this.#keep(row);
    this.#report(row);
    this.disarm(row.id);
    for (const look of [...this.#waiting]) look();
    this.onEnd(row);
  }

  #isHeld(row: ApprovalRow): boolean {
    return this.fenceOf(row.correlationId)?.signal.aborted === false;
  }

  #report({ id, state, correlationId, eventId, question }: ApprovalRow): void {
    this.parts.timeline?.record(() => ({
      ...{ kind: 'question', of: 'approval', id, parentId: eventId, correlationId },
      ...{ state, title: question.title },
    }));
  }

  /** @param fence the one under which its message is handled, if it is new here. */
  #keep(row: ApprovalRow, fence = this.fenceOf(row.correlationId)): void {
    if (fence === undefined) return; // it is another host's by now
    this.#fences.set(row.correlationId, fence);
    this.#rows.set(row.id, row);
  }

  /** Forgets the rows of a message. They stay in the journal. */
  forget(correlationId: string): void {
    for (const row of this.of(correlationId)) this.#forget(row);
  }

  #forget({ id, correlationId }: ApprovalRow): void {
    this.disarm(id);
    this.#rows.delete(id);
    if (this.of(correlationId).length > 0) return;
    this.#fences.delete(correlationId);
    this.#blocked.delete(correlationId);
  }
}
