import type { Fence } from '@sluice/journal';
import { getOrMake, type SluiceError } from 'sluice-kernel/internal';

interface OwnPartition {
  readonly partition: number;
  readonly epoch: number;
  /** Nothing while the lease may be over: others may have the partition by now. */
  held: { readonly fence: Fence; readonly losing: AbortController } | undefined;
  /** The updates that it handled when the lease was over, with the numbers of their attempts. */
  stalled: readonly (readonly [string, number])[];
  /** The updates with the numbers of their attempts, the sends, and all else that must end before the partition is released. */
  readonly work: Map<string | Leaving, number | undefined>;
  readonly leaving: Set<Leaving>;
}

type Leaving = () => Promise<void>;

/** How often a beginning does not count because the host was stalled: the update may be what stalls it. */
const mostReleased = 10;

/** The partitions of a host as it knows them itself, with the work that it handles for each. */
export class OwnPartitions {
  readonly #held = new Map<number, OwnPartition>();
  readonly #onIdle: () => void;
  #draining: ReadonlySet<number> = new Set();
  #suspensions = 0;
  readonly #released = new Map<string, number>();

  /** @param onIdle is called when nothing of a partition is active any more in which it begins nothing. */
  constructor(onIdle: () => void) {
    this.#onIdle = onIdle;
  }

  /** The partitions in which it begins nothing more. */
  get draining(): ReadonlySet<number> {
    return this.#draining;
  }

  fenceOf(partition: number): Fence | undefined {
    return this.#draining.has(partition) ? undefined : this.#held.get(partition)?.held?.fence;
  }

  /** The epoch in which it has a partition as far as it knows, also while its lease may be over. */
  epochOf(partition: number): number | undefined {
    return this.#held.get(partition)?.epoch;
  }

  /** How often its lease was over while it had partitions: a renewal that was under way then knew more of them than is true. */
  get suspensions(): number {
    return this.#suspensions;
  }

  /** The partitions in which it may begin something. */
  partitions(): readonly number[] {
    return [...this.#held.keys()].filter((partition) => this.fenceOf(partition) !== undefined);
  }

  /** How much it handles for a partition. */
  workOf(partition: number): number {
    const { work, leaving } = this.#held.get(partition) ?? {};
    return (work?.size ?? 0) + (leaving?.size ?? 0);
  }

  /** @param attempt of an update. */
  begun(fence: Fence | undefined, id: string, attempt?: number): void {
    this.#of(fence)?.work.set(id, attempt);
  }

  ended(fence: Fence, id: string): void {
    this.#released.delete(id);
    this.#done(this.#of(fence), id);
  }

  #done(own: OwnPartition | undefined, what: string | Leaving): void {
    const hasEnded = own?.work.delete(what) === true && own.work.size === 0;
    if (hasEnded && this.#draining.has(own.partition)) this.#onIdle();
  }

  onLeave(fence: Fence, leave: Leaving): Disposable {
    this.#of(fence)?.leaving.add(leave);
    return { [Symbol.dispose]: () => this.#of(fence)?.leaving.delete(leave) };
  }

  #of(fence: Fence | undefined): OwnPartition | undefined {
    const own = fence && this.#held.get(fence.partition);
    return own?.held?.fence.signal === fence?.signal ? own : undefined; // one that has ended may come back in the same epoch
  }

  /** Begins nothing more in these partitions, and again in others. An account under a partition is left when all else of it has ended. */
  drain(partitions: readonly number[]): void {
    this.#draining = new Set(partitions);
    for (const partition of partitions) {
      const own = this.#held.get(partition);
      if (own?.work.size !== 0) continue;
      for (const leave of own.leaving) {
        own.leaving.delete(leave);
        own.work.set(leave, undefined);
        void leave().finally(() => this.#done(own, leave));
      }
    }
  }

  /** Has a partition from now on, in a fence of its own, also if it had the partition in this epoch when its lease was over. */
  take(partition: number, epoch: number): void {
    const own = getOrMake(
      this.#held,
      partition,
      (): OwnPartition => ({
        ...{ partition, epoch, held: undefined, stalled: [], work: new Map(), leaving: new Set() },
      }),
    );
    if (own.held !== undefined) return;
    for (const [id] of own.stalled) this.#released.set(id, (this.#released.get(id) ?? 0) + 1);
    own.stalled = [];
    const losing = new AbortController();
    own.held = { fence: { partition, epoch, signal: losing.signal }, losing };
  }

  /** Ends all holds. The partitions are this host's again, in the same epoch, if no other host has taken them: see `take`. */
  suspend(error: SluiceError): void {
    if ([...this.#held.values()].some(({ held }) => held !== undefined)) this.#suspensions++;
    for (const own of this.#held.values()) {
      const { held, work } = own;
      if (held === undefined) continue;
      own.held = undefined;
      own.stalled = [...work].flatMap(([id, attempt]) => {
        if (typeof id !== 'string' || attempt === undefined) return [];
        return (this.#released.get(id) ?? 0) < mostReleased ? [[id, attempt]] : [];
      });
      work.clear();
      own.leaving.clear(); // the signal has told them
      held.losing.abort(error);
    }
  }

  /** The attempts at updates that a lease which was over has broken off in parts that are this host's all the same. */
  stalledIn(epochs: ReadonlyMap<number, number>): readonly (readonly [string, number])[] {
    return [...this.#held.values()].flatMap(({ partition, epoch, stalled }) =>
      epochs.get(partition) === epoch ? stalled : [],
    );
  }

  /** Ends the fences of the partitions that it has no more, or in another epoch. @returns whether there are any. */
  keep(epochs: ReadonlyMap<number, number>, error: () => SluiceError): boolean {
    const gone = [...this.#held.values()].filter(
      ({ partition, epoch }) => epochs.get(partition) !== epoch,
    );
    for (const { partition, held } of gone) {
      this.#held.delete(partition);
      held?.losing.abort(error());
    }
    return gone.length > 0;
  }
}
