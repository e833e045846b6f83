import type { Ownership } from '@sluice/journal';
import { type Head, RecordChain } from '@sluice/journal/internal';
import type { PostgresQuery } from './rows/connections.js';
import type { JoinedWrites } from './rows/postgres-tables.js';

/** The slot of records of a host that has no partition. Any host goes on with its chain, under a lock of its row. */
export const slotOfNone = 1_024;

/**
 * The heads of the chains of a journal that hosts share (record §2.3). A host reads those of a partition once, within a transaction
 * under the fence of that partition, and then goes on with them from memory: nobody else writes them as long as it has the partition.
 */
export class RecordHeads {
  readonly chain: RecordChain;
  readonly #ownership: Ownership;
  /** The epochs of the partitions whose heads are known. */
  readonly #known = new Map<number, number>();
  #own: readonly number[] = [];
  readonly #onKept: () => void;

  /** @param onKept is called when there may be records that no checkpoint has. */
  constructor(ownership: Ownership, onKept: () => void) {
    this.#ownership = ownership;
    this.#onKept = onKept;
    this.chain = new RecordChain(
      (isPersisted) => {
        if (isPersisted) onKept();
        else this.#known.clear(); // the end of that transaction may be unknown
      },
      (slot) => this.#placed(slot),
    );
  }

  /** Reads the heads that this host does not know, within a transaction that is fenced. As a rule it knows all, and asks for nothing. */
  async load(query: PostgresQuery): Promise<void> {
    const { partitionCount } = this.#ownership;
    const epochs = new Map<number, number>();
    for (let one = 0; one < partitionCount; one++) {
      const epoch = this.#ownership.epochOf(one);
      if (epoch !== undefined) epochs.set(one, epoch);
    }
    this.#own = [...epochs.keys()];
    const unknown = this.#own.filter((one) => this.#known.get(one) !== epochs.get(one));
    if (unknown.length === 0 && this.#own.length > 0) return;
    // a transaction of this host whose end was not told has these rows until it ends
    const rows = await query(
      `SELECT slot, number, digest FROM sluice_record_heads
        WHERE slot = ${slotOfNone} OR slot % $1 = ANY($2) ORDER BY slot FOR UPDATE`,
      [partitionCount, unknown],
    );
    for (const { slot, number, digest } of rows)
      this.chain.set(Number(slot), { number: Number(number), digest: String(digest) }, false);
    if (rows.length > 0) this.#onKept(); // the host before may have been killed before it signed them
    for (const one of unknown) this.#known.set(one, epochs.get(one) ?? 0);
  }

  /** A slot of a partition that this host has: the slot itself, if it can be. */
  #placed(slot: number): number {
    const { partitionCount } = this.#ownership;
    const own = this.#own;
    const partition = slot % partitionCount;
    if (own.includes(partition)) return slot;
    const other = own[slot % own.length];
    if (other === undefined) return slotOfNone;
    const placed = slot - partition + other;
    return placed < slotOfNone ? placed : placed - partitionCount;
  }

  /** Writes the heads of the transaction under way. */
  flush(writes: JoinedWrites): void {
    const heads = [...this.chain.linked].map(([slot, head]) => ({ slot, ...head }));
    writes.addRows(
      { slot: 'int4', number: 'int8', digest: 'text' },
      heads,
      (
        given,
      ) => `UPDATE sluice_record_heads AS kept SET number = given.number, digest = given.digest
        FROM ${given} WHERE kept.slot = given.slot`,
    );
  }
}

/**
 * Makes the condition of a record, called `kept`, that may be dropped: it is in no chain, or its chain is cut behind it.
 *
 * @param slots the number of the parameter with the slots of the cut; that with the numbers of their heads follows.
 */
export const isCut = (slots: number): string =>
  `(kept.proof IS NULL OR split_part(kept.proof, '.', 2)::int8 <=
  coalesce((SELECT number FROM unnest($${slots}::int4[], $${slots + 1}::int8[]) AS cut (slot, number)
    WHERE cut.slot = split_part(kept.proof, '.', 1)::int4), 0))`;

/** The heads of a cut as two lists. */
export function cutLists(heads: ReadonlyMap<number, Head>) {
  return [[...heads.keys()], [...heads.values()].map(({ number }) => number)] as const;
}
