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

/** Says which parts of the lanes a host handles. A journal of one host has part 0, and never loses it. */
export interface Ownership {
  /** The part of a lane: the same on each host. */
  partOf(lane: string): number;
  /** The hold of a part; nothing if another host has it, or none, or if it is being given up. */
  holdOf(part: number): Hold | undefined;
  /** The parts of which it has a hold. */
  parts(): readonly number[];
  /** Hears that a part was taken: what waits in it may be read. A part that is lost is told by the signal of its hold. */
  onTaken(listener: (part: number) => void): Disposable;
}

/** The only hold of a journal that one host has at a time. @param signal aborts when another host has taken it over. */
export function soleHold(signal: AbortSignal = new AbortController().signal): Hold {
  return { part: 0, epoch: 0, signal };
}
