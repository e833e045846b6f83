import { slotOf } from '../fence.js';
import type { NewDispatch } from '../journal.js';
import { type Head, noHead, proven } from './proof.js';

/** The slot of a record: all records of a message have the same. A record of no message has that of its session or of its kind. */
export const slotOfRecord = ({ correlationId, sessionId, family }: NewDispatch): number =>
  slotOf(correlationId || (sessionId ?? family));

/**
 * The chains of the records that one host writes, a chain for each slot. A transaction begins, links records, and is settled: what it
 * has linked counts when it is persisted.
 *
 * @example
 * chain.begin();
 * rows.add(chain.link(dispatches));
 * chain.settle(true);
 */
export class RecordChain {
  readonly #heads = new Map<number, Head>();
  #linked = new Map<number, Head>();
  #unsigned = new Map<number, Head>();
  readonly #onKept: (isPersisted: boolean) => void;
  readonly #placed: (slot: number) => number;

  /**
   * @param onKept is called when a transaction is settled that has linked records.
   * @param placed the slot that records of a slot have, if the host has not the right to write for all slots.
   */
  constructor(onKept: (isPersisted: boolean) => void, placed = (slot: number): number => slot) {
    this.#onKept = onKept;
    this.#placed = placed;
  }

  /** Goes on behind a record. @param isSigned a checkpoint has it. */
  set(slot: number, head: Head, isSigned = true): void {
    const isOther = head.digest !== (this.#heads.get(slot) ?? noHead).digest;
    this.#heads.set(slot, head);
    if (!isSigned && isOther) this.#unsigned.set(slot, head);
  }

  /** Begins a transaction: what was linked and not settled was rolled back. */
  begin(): void {
    this.#linked = new Map();
  }

  /**
   * Gives records of one message their proofs.
   *
   * @param firstSeq the number of the first of them in the journal, if it is known: the others follow it.
   */
  link(records: readonly NewDispatch[], firstSeq?: number): NewDispatch[] {
    const [first] = records;
    if (first === undefined) return [];
    const slot = this.#placed(slotOfRecord(first));
    let head = this.#linked.get(slot) ?? this.#heads.get(slot) ?? noHead;
    const linked = records.map((record, at) => {
      const seq = firstSeq === undefined ? null : firstSeq + at;
      const [proof, next] = proven(record, slot, head, seq);
      head = next;
      return { ...record, proof };
    });
    this.#linked.set(slot, head);
    return linked;
  }

  /** The heads of the transaction under way. */
  get linked(): ReadonlyMap<number, Head> {
    return this.#linked;
  }

  settle(isPersisted: boolean): void {
    const linked = this.#linked;
    this.#linked = new Map();
    if (isPersisted) for (const [slot, head] of linked) this.set(slot, head, false);
    if (linked.size > 0) this.#onKept(isPersisted);
  }

  /** Takes the heads that no checkpoint has. */
  takeUnsigned(): ReadonlyMap<number, Head> {
    const unsigned = this.#unsigned;
    this.#unsigned = new Map();
    return unsigned;
  }

  /** Gives heads back that could not be signed. */
  giveBack(unsigned: ReadonlyMap<number, Head>): void {
    this.#unsigned = new Map([...unsigned, ...this.#unsigned]);
  }
}
