import type { UpdateRecord } from '@sluice/journal';
import type { HostParts } from '../parts/parts.js';
import { isFree, isOwn, readOpen } from './open-rows.js';

/** Milliseconds between two looks at some open updates. */
const lookEveryMs = 5_000;

/** Rows that one look reads. */
const page = 50;

/**
 * Looks now and then at the next few open updates, round and round, for one that nobody handles and that no reading came to. A commit
 * whose answer was lost may be persisted long after it counted as failed: the update is open then, and nothing tells of it. One look
 * costs the same however many are open.
 */
export class MissedUpdates {
  readonly #parts: HostParts;
  #nextLookMs: number;
  #afterSeq = 0;
  /** The updates that looked missed when they were seen last: they may have ended just then. */
  #before: ReadonlySet<string> = new Set();
  #seen = new Set<string>();

  constructor(parts: HostParts) {
    this.#parts = parts;
    this.#nextLookMs = parts.clock.monotonicMs() + lookEveryMs;
  }

  /**
   * Has the journal read again if an update looked missed twice.
   *
   * @throws what the journal throws.
   */
  async look(): Promise<void> {
    const { backlog, clock } = this.#parts;
    if (backlog.isBehind || clock.monotonicMs() < this.#nextLookMs) return;
    this.#nextLookMs = clock.monotonicMs() + lookEveryMs;
    const { rows, areLast } = await readOpen(this.#parts, {
      afterSeq: this.#afterSeq,
      limit: page,
    });
    this.#afterSeq = areLast ? 0 : (rows.at(-1)?.seq ?? 0);
    for (const row of rows.filter((one) => this.#isMissed(one))) {
      backlog.isToRewind ||= this.#before.has(row.eventId);
      this.#seen.add(row.eventId);
    }
    if (!areLast) return;
    this.#before = this.#seen;
    this.#seen = new Set();
  }

  #isMissed(row: UpdateRecord): boolean {
    const { backlog, accounts, conversationLanes } = this.#parts;
    const { lane, eventId, channel, accountId } = row;
    if (backlog.isBehind || backlog.arriving.has(eventId)) return false;
    const isNext =
      lane === undefined ||
      !(backlog.blocked.has(lane) || backlog.lanes.has(lane) || !conversationLanes.isIdle(lane));
    const mayRun = isNext && accounts.find(channel, accountId) !== undefined;
    return mayRun && isOwn(this.#parts, row) && isFree(this.#parts, row);
  }
}
