import type { Fence } from '@sluice/journal';
import { noFence } from '@sluice/journal/internal';
import { Stop } from '@sluice/sdk/stream/internal';
import { getOrMake } from 'sluice-kernel/internal';
import { Suspension } from '../lanes/suspension.js';
import type { FencedParts, HostParts } from './parts.js';

/**
 * The services for work under a fence: its signal aborts with the host's, and when the fence is lost. They name all that a message adds
 * to them, since each copy with a further field would have a hidden class of its own.
 */
export function underFence(parts: HostParts, fence: Fence): FencedParts {
  const fenced = getOrMake(parts.fenced, fence.signal, () => {
    const ofMessage = { suspension: undefined, asking: parts.asking, turnPersisted: undefined };
    return { ...parts, fence, signal: new Stop(parts.signal, fence.signal), ...ofMessage };
  });
  return fenced.fence === fence ? fenced : { ...fenced, fence };
}

/** The same for an update: its work is suspended when the journal fails. */
export function forUpdate(parts: HostParts, fence: Fence): FencedParts {
  const suspension = new Suspension(parts.signal, parts.outbox.mayDefer);
  return { ...underFence(parts, fence), suspension };
}

/** The services for work of a slot; nothing if another host has its partition. */
export function underFenceOf(parts: HostParts, slot = 0): FencedParts | undefined {
  const fence = parts.journal.ownership.fenceOf(slot);
  return fence && underFence(parts, fence);
}

/**
 * The services for work that no message has begun, such as a send of the program: under the fence of its slot, or, if
 * another host has that, under one of this host's own.
 *
 * @throws SluiceError `journal-lost` if this host has none.
 */
export function underOwnFence(parts: HostParts, slot: number): FencedParts {
  const fenced = underAnyFence(parts, slot);
  if (fenced === undefined) throw noFence('other hosts have all partitions');
  return fenced;
}

/** As `underOwnFence`; nothing if this host has no partition. */
export function underAnyFence(parts: HostParts, slot: number): FencedParts | undefined {
  const [own] = parts.journal.ownership.partitions();
  return underFenceOf(parts, slot) ?? (own === undefined ? own : underFenceOf(parts, own));
}

/**
 * Finds the fences of the partitions that a host has taken since their signals were noted.
 *
 * @returns the one of a slot, if it is among them, and all of them.
 */
export function freshFences({ journal: { ownership } }: HostParts, noted: WeakSet<AbortSignal>) {
  const now = ownership.partitions().flatMap((partition) => ownership.fenceOf(partition) ?? []);
  const all = now.filter(({ signal }) => !noted.has(signal));
  const freshFenceOf = (slot = 0): Fence | undefined => {
    const fence = ownership.fenceOf(slot);
    return all.some(({ signal }) => signal === fence?.signal) ? fence : undefined;
  };
  return { all, freshFenceOf };
}
