import type { Fence, Ownership } from '@sluice/journal';
import {
  type ApprovalEnd,
  type ApprovalRow,
  approvalRows,
  approvalsAtMost,
  changeState,
  shortIdOf,
} from './approval-row.js';
import { Grants } from './grants.js';
import { HostSign } from './host-sign.js';
import type { WaitingRows, WaitingRowsParts } from './waiting-rows.js';

/**
 * The questions to humans of a host. Each change of state is made once, in the journal, so that an operator may answer beside a
 * running host. The rows of a message go when it has ended.
 */
export class PersistedApprovals {
  /** The answers that hold for later questions, too. */
  readonly grants: Grants;
  readonly #parts: WaitingRowsParts;
  readonly #rows: WaitingRows<ApprovalRow>;
  readonly #byId = new Map<string, ApprovalRow>();
  readonly #ofMessages = new Map<string, { readonly ids: Set<string>; readonly fence: Fence }>();
  readonly #waiting = new Map<string, Set<() => void>>();
  readonly #leaving = new AbortController();
  /** The lanes of messages that wait for an answer and are not begun, by their event ids. */
  readonly #held = new Map<string, string>();
  readonly #sign: HostSign;
  #isClosed = false;
  #isToLook = false; // the rows could not be read when there may have been answers
  /** Called when a question has its end. */
  onEnd: (row: ApprovalRow) => void = () => undefined;
  /** Called when an answer was allowed and not used when its message ended. */
  onUnused: (row: ApprovalRow) => void = () => undefined;

  constructor(parts: WaitingRowsParts, ownership: Ownership) {
    this.grants = new Grants(parts);
    this.#parts = parts;
    this.#sign = new HostSign(parts.keyValues, ownership, '/approvals-answered');
    this.#rows = approvalRows(parts, async (row) => {
      if (this.#isHeld(row)) await this.end(row, { state: 'expired' });
    });
  }

  /** Takes the rows of a message over that a host before this one left. */
  async take(correlationId: string, rows: readonly ApprovalRow[], fence: Fence): Promise<void> {
    this.forget(correlationId);
    for (const row of rows) {
      this.#keep(row, fence);
      if (row.state === 'pending') this.#rows.arm(row);
    }
    for (const row of rows) await this.grants.keep(row); // somebody may have answered while no host looked
  }

  /** Lets deadlines pass from now on. */
  start(): void {
    this.#rows.start(this.pending());
  }

  stop(): void {
    this.#rows.stop();
  }

  /** Aborted when the host stops and what waits for a person is left to the next host. */
  get leaving(): AbortSignal {
    return this.#leaving.signal;
  }

  /** Nobody can answer any more: what is pending is withdrawn, and nothing more is asked. Never rejects. */
  async close(): Promise<void> {
    this.#isClosed = true;
    const end = { state: 'withdrawn', reason: 'nobody is there to answer' } as const;
    await Promise.allSettled(this.pending().map((row) => this.end(row, end))); // or its time runs out
  }

  /** Leaves what waits for a person to the next host. */
  leave(): void {
    this.#leaving.abort();
  }

  get(id: string): ApprovalRow | undefined {
    return this.#byId.get(id);
  }

  /** A question of any host of the journal, as it is now. @throws as the journal does. */
  async read(id: string): Promise<ApprovalRow | undefined> {
    return (await this.#rows.find('asked', id))?.row;
  }

  /** The questions whose ids begin so, of all hosts of the journal. @throws as the journal does. */
  beginningWith(start: string): Promise<readonly ApprovalRow[]> {
    return this.#rows.load(start.toLowerCase());
  }

  /** The questions of this host that nobody has answered, in the order in which they were asked. */
  pending(): readonly ApprovalRow[] {
    return [...this.#byId.values()].filter(({ state }) => state === 'pending');
  }

  /** The messages with rows whose partitions this host has lost. */
  lost(): readonly string[] {
    return [...this.#ofMessages].flatMap(([id, { fence }]) => (fence.signal.aborted ? id : []));
  }

  /** The fence under which a message with questions is handled here. */
  fenceOf(correlationId: string): Fence | undefined {
    return this.#ofMessages.get(correlationId)?.fence;
  }

  of(correlationId: string): readonly ApprovalRow[] {
    const { ids } = this.#ofMessages.get(correlationId) ?? { ids: [] };
    return [...ids].flatMap((id) => this.#byId.get(id) ?? []);
  }

  /** Keeps that a message is not begun before its questions are answered. @returns whether one is open. */
  block(correlationId: string, lane: string): boolean {
    const isOpen = this.of(correlationId).some(({ state }) => state === 'pending');
    if (isOpen) this.#held.set(correlationId, lane);
    return isOpen;
  }

  /** @returns the lane that it was held in. */
  release(correlationId: string): string | undefined {
    const lane = this.#held.get(correlationId);
    this.#held.delete(correlationId);
    return lane;
  }

  /** Returns whether a message of a lane waits for an answer before it is begun. */
  blocks(lane: string): boolean {
    return this.#held.size > 0 && [...this.#held.values()].includes(lane);
  }

  /** Keeps a question before anybody is asked. @returns whether there is room for it. @throws as the journal does. */
  async add(row: ApprovalRow, fence: Fence): Promise<boolean> {
    if (this.#isClosed || this.#byId.size >= approvalsAtMost) return false;
    const { status } = await this.#rows.write(row, { signal: fence.signal });
    if (status !== 'written') return false;
    this.#keep(row, fence);
    this.#report(row);
    this.#rows.arm(row);
    return true;
  }

  /** Notes that the message of a question is sent. Never rejects: the next host sends it again otherwise. */
  async noteSent(row: ApprovalRow): Promise<void> {
    try {
      const sent = await this.#rows.change(row, ({ isUnsent: _, ...now }) => now);
      if (sent !== undefined) this.#keep(sent);
    } catch (error) {
      const told = { id: row.id, error };
      this.#parts.logger.warn('a question is asked, and the journal could not note it', told);
    }
  }

  /**
   * Gives a question its end, if it has none.
   *
   * @param signal of the fence of the run that asks; absent if a person, or its time, has ended it.
   * @returns the row; nothing if it has its end already.
   * @throws as the journal does: it is pending as before.
   */
  async end(
    row: ApprovalRow,
    end: ApprovalEnd,
    signal?: AbortSignal,
  ): Promise<ApprovalRow | undefined> {
    const endedAtMs = this.#parts.clock.now();
    const ended = await changeState(this.#rows, row, ['pending'], { ...end, endedAtMs }, signal);
    if (ended === undefined) await this.look(row);
    else await this.#take(ended);
    return ended;
  }

  /**
   * Notes that an answer is used, before the action, under the fence of the run that uses it. @param isAgain the call before this one
   * has failed, and may have noted it. @returns whether it may be used. @throws as the journal does.
   */
  async use(row: ApprovalRow, { signal }: Fence, isAgain: boolean): Promise<boolean> {
    const from = isAgain ? (['allowed', 'used'] as const) : (['allowed'] as const);
    const used = await changeState(this.#rows, row, from, { state: 'used' }, signal);
    if (used === undefined || signal.aborted) return false;
    this.#keep(used);
    this.#report(used);
    return true;
  }

  /** Resolves when a question has its end, or when a signal aborts. @returns the row as it is then. */
  async ended({ id }: ApprovalRow, signal: AbortSignal): Promise<ApprovalRow | undefined> {
    await new Promise<void>((resolve) => {
      if (this.#byId.get(id)?.state !== 'pending' || signal.aborted) return resolve();
      const told = this.#waiting.get(id) ?? new Set();
      this.#waiting.set(id, told.add(resolve));
      signal.addEventListener('abort', () => resolve(), { once: true });
    });
    return this.#byId.get(id);
  }

  /** Reads what others have written: one row, or all that have no end here. Never rejects. */
  async look(one?: ApprovalRow): Promise<void> {
    try {
      for (const row of one === undefined ? this.pending() : [one]) {
        const kept = await this.#rows.read(row);
        if (kept !== undefined && kept.row.state !== row.state) await this.#take(kept.row);
      }
      if (one === undefined) this.#isToLook = false;
    } catch (error) {
      this.#isToLook = true; // no other sign may come
      this.#parts.logger.error('the answers to questions could not be read', { error });
    }
  }

  /** Lets the other hosts look at the questions that they have open. @throws as the journal does. */
  notifyHosts(): Promise<void> {
    return this.#sign.give();
  }

  /** Returns whether another host may have taken an answer to a question of this one since the last call. @throws as the journal does. */
  async areAnswered(): Promise<boolean> {
    return this.pending().length > 0 && ((await this.#sign.isNew()) || this.#isToLook);
  }

  /** A message has ended: what was allowed and not used is told, and its rows go. Never rejects. */
  async settled(correlationId: string): Promise<void> {
    for (const row of this.of(correlationId))
      try {
        if (row.state === 'pending') await this.end(row, { state: 'withdrawn' });
        const unused = await changeState(this.#rows, row, ['allowed'], { state: 'unused' });
        if (unused !== undefined) {
          this.#report(unused);
          this.onUnused(unused);
        }
        await this.#rows.remove(row);
        this.#forget(row);
      } catch (error) {
        // the next host finds that its message has ended
        this.#parts.logger.warn('an approval could not be dropped', { id: row.id, error });
      }
  }

  /** Takes a row whose question has its end. The grant of it is persisted first: the action may come again at once. */
  async #take(row: ApprovalRow): Promise<void> {
    try {
      if (row.always !== undefined && !(await this.grants.keep(row)))
        this.#parts.logger.warn('an "always" is not kept: there are too many, or it was revoked', {
          approval: shortIdOf(row),
        });
    } catch (error) {
      this.#parts.logger.error('an "always" could not be kept', { id: row.id, error });
    }
    if (!this.#isHeld(row)) await this.notifyHosts(); // its message is another host's, also if it was here until now
    if (!this.#byId.has(row.id)) return;
    this.#keep(row);
    this.#report(row);
    this.#rows.disarm(row.id);
    for (const resolve of this.#waiting.get(row.id) ?? []) resolve();
    this.#waiting.delete(row.id);
    this.onEnd(row);
  }

  #isHeld(row: ApprovalRow): boolean {
    return this.fenceOf(row.correlationId)?.signal.aborted === false;
  }

  #report({ id, state, correlationId, eventId, question }: ApprovalRow): void {
    this.#parts.timeline?.record(() => ({
      ...{ kind: 'question', of: 'approval', id, parentId: eventId, correlationId },
      ...{ state, title: question.title },
    }));
  }

  /** @param fence the one under which its message is handled, if it is new here. */
  #keep(row: ApprovalRow, fence?: Fence): void {
    const { id, correlationId } = row;
    const known = this.#ofMessages.get(correlationId) ?? (fence && { ids: new Set(), fence });
    if (known === undefined) return; // its message is another host's by now
    this.#byId.set(id, row);
    known.ids.add(id);
    this.#ofMessages.set(correlationId, known);
  }

  /** Forgets the rows of a message. They stay in the journal. */
  forget(correlationId: string): void {
    for (const row of this.of(correlationId)) this.#forget(row);
  }

  #forget({ id, correlationId }: ApprovalRow): void {
    this.#byId.delete(id);
    this.#waiting.delete(id);
    this.#rows.disarm(id);
    const { ids } = this.#ofMessages.get(correlationId) ?? {};
    ids?.delete(id);
    if (ids?.size === 0) this.#ofMessages.delete(correlationId);
  }
}
