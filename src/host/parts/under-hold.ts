import { setMaxListeners } from 'node:events';
import type { Hold } from '@sluice/journal';
import { notHeld } from '@sluice/journal/internal';
import { getOrMake } from 'sluice-kernel/internal';
import type { HeldParts, HostParts } from './parts.js';

/** The services for work under a hold: its signal aborts with the host's, and when the hold is lost. */
export function underHold(parts: HostParts, hold: Hold): HeldParts {
  const signal = getOrMake(parts.holdSignals, hold.signal, () => {
    const either = AbortSignal.any([parts.signal, hold.signal]);
    setMaxListeners(0, either); // each message that runs listens to it
    return either;
  });
  return { ...parts, hold, signal };
}

/** The services for work of a part; nothing if another host has it. */
export function underHoldOf(parts: HostParts, part = 0): HeldParts | undefined {
  const hold = parts.journal.ownership.holdOf(part);
  return hold && underHold(parts, hold);
}

/**
 * The services for work that no message has begun, such as a send of the program: under the hold of the part of its key, or, if
 * another host has that, under one of this host's own.
 *
 * @throws SluiceError `journal-lost` if this host has none.
 */
export function underOwnHold(parts: HostParts, key: string): HeldParts {
  const held = underAnyHold(parts, key);
  if (held === undefined) throw notHeld('other hosts have all parts');
  return held;
}

/** As `underOwnHold`; nothing if this host has no part. */
export function underAnyHold(parts: HostParts, key: string): HeldParts | undefined {
  const { ownership } = parts.journal;
  const [own] = ownership.parts();
  return (
    underHoldOf(parts, ownership.partOf(key)) ?? (own === undefined ? own : underHoldOf(parts, own))
  );
}
