import type { SluiceError } from 'sluice-kernel';
import { journalError } from './errors.js';
import { digestOf } from './event-id.js';

/**
 * The right of a host to write for one partition of the lanes, as long as no other host has taken that partition. Each write carries it,
 * and the journal refuses the write with `journal-lost` if it is of an epoch that has ended: the journal looks up none itself.
 */
export interface Fence {
  /** The number of the partition. A journal of one host has partition 0 alone. */
  readonly partition: number;
  /** The slot of the work, which is one of the partition; absent if it is of none, as work of a journal that no later host reads. */
  readonly slot?: number;
  /** Grows with each taking of the partition; 0 in a journal of one host. */
  readonly epoch: number;
  /** Aborts, with the error as its reason, when the host may no longer write: its turns under this fence stop, and send nothing more. */
  readonly signal: AbortSignal;
}

/** The fence under which one update is handled, from its begin to its end. */
export interface UpdateFence extends Fence {
  readonly eventId: string;
  /** The number of this beginning: it is taken back once, also if a write of that has no answer. */
  readonly attempt?: number;
}

/** How a write to a session is made. */
export interface SessionWrite {
  /** The right to it: see `Fence`. A store of its own may ignore it. */
  readonly fence: Fence;
  /** Nobody waits for it: it may be persisted with the next write that somebody waits for, before that one. */
  readonly mayWait?: boolean;
}

/** Says which partitions of the lanes a host handles. A journal of one host has partition 0, and never loses it. */
export interface Ownership {
  /**
   * The number of the partitions of the journal. With more than one, other hosts use the journal, too: each takes updates in for all
   * partitions, and handles those of its own.
   */
  readonly partitionCount: number;
  /** The slot of what has this key, such as a conversation: see `slotOf`. */
  slotOf(key: string): number;
  /**
   * The fence of the partition that a slot is in: `slot % partitionCount`, so the number of a partition is one of its slots. Nothing if
   * another host has that partition, or none, or if it is being given up.
   */
  fenceOf(slot: number): Fence | undefined;
  /**
   * The epoch in which this host has a partition, as far as it knows. If its lease could not be renewed in time, it has no fence, and may
   * have one again in the same epoch: then no other host has written for the partition.
   */
  epochOf(partition: number): number | undefined;
  /** The partitions of which it has a fence. */
  partitions(): readonly number[];
  /**
   * Hears that there may be more to claim, at once if other hosts use the journal: a partition was taken, or another host has taken an update in for a partition of this one. A
   * partition that is lost is told by the signal of its fence.
   */
  onWork(listener: () => void): Disposable;
  /** Has the other host of a slot look for work at once, or all others. A hint may be lost: each host looks by itself, too. */
  hint(slot?: number): void;
  /**
   * Has something let go, such as an account, before its partition is given up: `leave` is called once, when nothing else of the
   * partition is active, and the partition is released when it has ended. A partition that is lost is told by the signal of its
   * fence alone.
   */
  onLeave(fence: Fence, leave: () => Promise<void>): Disposable;
  /** Says that the host begins nothing more: other hosts may have its partitions, each as soon as nothing of it is active. */
  withdraw(): void;
}

/** The slots of a journal. Rows keep their slot, and partitions are sets of slots: their number may change, the slots stay. */
export const slotCount = 1_024;

/** The slot of a conversation, an account or a session by its key: the same on each host, whatever the number of partitions. */
export function slotOf(key: string): number {
  return Number.parseInt(digestOf(key).slice(0, 8), 16) & (slotCount - 1);
}

/** The failure of work for whose lane this host has no fence. */
export function noFence(problem: string): SluiceError {
  return journalError('journal-lost', { path: 'of several hosts', problem });
}

/** @throws the reason for which a fence was lost. */
export function checkedFence<AnyFence extends Fence>(fence: AnyFence): AnyFence {
  fence.signal.throwIfAborted();
  return fence;
}

/** The ownership of a journal that one host has at a time, whole. @param signal aborts when another host has taken it over. */
export function wholeOwnership(signal: AbortSignal = new AbortController().signal): Ownership {
  const fence: Fence = { partition: 0, epoch: 0, signal, slot: 0 };
  return {
    partitionCount: 1,
    slotOf,
    fenceOf: (slot) => (slot === 0 ? fence : { ...fence, slot }),
    epochOf: () => (signal.aborted ? undefined : 0),
    partitions: () => [0],
    onWork: () => ({ [Symbol.dispose]: () => undefined }),
    hint: () => undefined,
    onLeave: () => ({ [Symbol.dispose]: () => undefined }),
    withdraw: () => undefined,
  };
}
