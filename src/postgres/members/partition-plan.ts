/** The partitions of a journal as one of its hosts sees them. */
interface PartitionsNow {
  readonly partitions: number;
  /** The hosts that take partitions, this one among them if it does. */
  readonly hosts: number;
  /** This host takes partitions. */
  readonly isTaking: boolean;
  /** This host is to stop: it gives up what is idle, and nothing else. */
  readonly isWithdrawn?: boolean;
  /** The partitions of this host, with the number of updates and sends of each that it handles. */
  readonly owned: ReadonlyMap<number, number>;
  /** Those of its partitions in which it begins nothing more. */
  readonly draining: ReadonlySet<number>;
  /** The partitions that no host has. */
  readonly free: readonly number[];
}

/** The next step of a host towards its fair share. */
interface PartitionsPlan {
  /** The partitions to take. Others may be quicker. */
  readonly take: readonly number[];
  /** The partitions in which it is to begin nothing more. One with nothing active may be released at once. */
  readonly drain: readonly number[];
}

/**
 * Plans the next step of a host. Its fair share is an equal part of all, rounded up, so no partition stays free. Of a surplus it gives
 * up a quarter at a time, the partitions with the least active work first: most conversations go on without a pause.
 *
 * @example
 * planPartitions({ partitions: 4, hosts: 2, isTaking: true, owned: new Map(), draining: new Set(), free: [0, 1, 3] }); // takes 0 and 1
 */
export function planPartitions(now: PartitionsNow): PartitionsPlan {
  const { partitions, hosts, isTaking, isWithdrawn = false, owned, draining, free } = now;
  if (isWithdrawn)
    return { take: [], drain: [...owned].flatMap(([one, work]) => (work === 0 ? one : [])) };
  const share = isTaking ? Math.ceil(partitions / Math.max(1, hosts)) : 0;
  const surplus = owned.size - share;
  if (surplus <= 0) return { take: free.slice(0, -surplus), drain: [] };
  const leastFirst = [...owned].sort(
    ([a, busyA], [b, busyB]) =>
      busyA - busyB || Number(draining.has(b)) - Number(draining.has(a)) || b - a,
  );
  const most = Math.min(surplus, Math.max(draining.size, Math.ceil(surplus / 4)));
  return { take: [], drain: leastFirst.slice(0, most).map(([partition]) => partition) };
}
