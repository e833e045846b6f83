import type { SluiceError } from 'sluice-kernel';
import { journalError } from './errors.js';

/**
 * The right of a host to write for one part of the lanes, as long as no other host has taken that part. Each write carries it,
 * and the journal refuses the write with `journal-lost` if it is of an epoch that has ended: the journal looks up none itself.
 */
export interface Hold {
  /** The number of the part. A journal of one host has part 0 alone. */
  readonly part: number;
  /** Grows with each taking of the part; 0 in a journal of one host. */
  readonly epoch: number;
  /** Aborts, with the error as its reason, when the host may no longer write: its turns under this hold stop, and send nothing more. */
  readonly signal: AbortSignal;
}

/** The hold under which one update is handled, from its begin to its end. */
export interface UpdateHold extends Hold {
  readonly eventId: string;
}

/** How a write to a session is made. */
export interface SessionWrite {
  /** The right to it: see `Hold`. A store of its own may ignore it. */
  readonly hold: Hold;
  /** Nobody waits for it: it may be kept with the next write that somebody waits for, before that one. */
  readonly mayWait?: boolean;
}

/** Says which parts of the lanes a host handles. A journal of one host has part 0, and never loses it. */
export interface Ownership {
  /** Other hosts use the journal, too: each takes updates in for all parts, and handles those of its own. */
  readonly isShared: boolean;
  /** The part of what has this key, such as a conversation: the same on each host. */
  partOf(key: string): number;
  /** The hold of a part; nothing if another host has it, or none, or if it is being given up. */
  holdOf(part: number): Hold | undefined;
  /**
   * The epoch in which this host has a part, as far as it knows. If its lease could not be renewed in time, it has no hold, and may
   * have one again in the same epoch: then no other host has written for the part.
   */
  epochOf(part: number): number | undefined;
  /** The parts of which it has a hold. */
  parts(): readonly number[];
  /**
   * Hears that there may be more to take up: a part was taken, or another host has taken an update in for a part of this one. A
   * part that is lost is told by the signal of its hold.
   */
  onWork(listener: () => void): Disposable;
  /** Has the other host of a part look for work at once, or all others. A hint may be lost: each host looks by itself, too. */
  hint(part?: number): void;
  /**
   * Has something let go, such as an account, before its part is given up: `leave` is called once, when nothing else of the part is
   * in hand, and the part is released when it has ended. A part that is lost is told by the signal of its hold alone.
   */
  onLeave(hold: Hold, leave: () => Promise<void>): Disposable;
  /** Says that the host begins nothing more: other hosts may have its parts, each as soon as nothing of it is in hand. */
  withdraw(): void;
}

/** The failure of work for whose lane this host has no hold. */
export function notHeld(problem: string): SluiceError {
  return journalError('journal-lost', { path: 'of several hosts', problem });
}

/** @throws the reason for which a hold was lost. */
export function held<Held extends Hold>(hold: Held): Held {
  hold.signal.throwIfAborted();
  return hold;
}

/** The ownership of a journal that one host has at a time, whole. @param signal aborts when another host has taken it over. */
export function wholeOwnership(signal: AbortSignal = new AbortController().signal): Ownership {
  const hold: Hold = { part: 0, epoch: 0, signal };
  return {
    isShared: false,
    partOf: () => 0,
    holdOf: (part) => (part === 0 ? hold : undefined),
    epochOf: () => (signal.aborted ? undefined : 0),
    parts: () => [0],
    onWork: () => ({ [Symbol.dispose]: () => undefined }),
    hint: () => undefined,
    onLeave: () => ({ [Symbol.dispose]: () => undefined }),
    withdraw: () => undefined,
  };
}
