import { setMaxListeners } from 'node:events';
import type { Fence } from '@sluice/journal';
import { noFence } from '@sluice/journal/internal';
import { getOrMake } from 'sluice-kernel/internal';
import { Suspension } from '../lanes/suspension.js';
import type { FencedParts, HostParts } from './parts.js';

/** The services for work under a fence: its signal aborts with the host's, and when the fence is lost. */
export function underFence(parts: HostParts, fence: Fence): FencedParts {
  return { ...parts, fence, signal: signalUnder(parts, fence) };
}

/** The same for an update: its work is suspended when the journal fails. */
export function forUpdate(parts: HostParts, fence: Fence): FencedParts {
  const signal = signalUnder(parts, fence);
  return {
    ...parts,
    fence,
    signal,
    suspension: new Suspension(parts.signal, parts.journal.outlivesHost),
  };
}

function signalUnder(parts: HostParts, fence: Fence): AbortSignal {
  return getOrMake(parts.fenceSignals, fence.signal, () => {
    const either = AbortSignal.any([parts.signal, fence.signal]);
    setMaxListeners(0, either); // each message that runs listens to it
    return either;
  });
}

/** The services for work of a partition; nothing if another host has it. */
export function underFenceOf(parts: HostParts, partition = 0): FencedParts | undefined {
  const fence = parts.journal.ownership.fenceOf(partition);
  return fence && underFence(parts, fence);
}

/**
 * The services for work that no message has begun, such as a send of the program: under the fence of the partition of its key, or, if
 * another host has that, under one of this host's own.
 *
 * @throws SluiceError `journal-lost` if this host has none.
 */
export function underOwnFence(parts: HostParts, key: string): FencedParts {
  const fenced = underAnyFence(parts, key);
  if (fenced === undefined) throw noFence('other hosts have all partitions');
  return fenced;
}

/** As `underOwnFence`; nothing if this host has no partition. */
export function underAnyFence(parts: HostParts, key: string): FencedParts | undefined {
  const { ownership } = parts.journal;
  const [own] = ownership.partitions();
  return (
    underFenceOf(parts, ownership.partitionOf(key)) ??
    (own === undefined ? own : underFenceOf(parts, own))
  );
}
