import type { ToolFact } from './tool-fact.js';

/** Text so far, of what is thought or of what is said. */
export interface SnapshotFact {
  readonly kind: 'thinking' | 'text';
  readonly text: string;
  /** It is the first of its message, as far as the gateway says: all of it is new. */
  readonly opens: boolean;
  /** The gateway says that it goes on, or does not say. */
  readonly continues: boolean;
  /** Where snapshots were merged while nobody read: the text that its message began with. */
  readonly opening?: string;
}

/** The agent makes room in its context. */
export interface CompactionFact {
  readonly kind: 'compaction';
  readonly phase: 'start' | 'end';
  readonly willRetry: boolean;
}

/**
 * How a run ended. `by`: `agent`, which said so itself; `gateway`, which was not there, refused or was lost; `time`: it
 * took longer than it may; `reader`: who reads was too slow.
 */
export type RunEndFact =
  | { readonly kind: 'end'; readonly how: 'done'; readonly text?: string }
  | { readonly kind: 'end'; readonly how: 'aborted' }
  | {
      readonly kind: 'end';
      readonly how: 'failed';
      readonly by: 'agent' | 'gateway' | 'time' | 'reader';
      readonly message: string;
      /** Whether the agent may have worked on it. */
      readonly reachedAgent: boolean;
    };

/** One thing that a gateway tells of a run. Narrow by `kind`. The last one is an `end`. */
export type RunFact = SnapshotFact | ToolFact | CompactionFact | RunEndFact;

/** Whether a text begins another message: it is new, or has nothing in common with what was shown. */
export function isAnotherMessage(
  shown: string,
  { text, opens, continues, opening = text }: SnapshotFact,
): boolean {
  if (shown === '' || opening === shown) return false;
  if (opens) return true;
  return !continues && !text.startsWith(shown) && !shown.startsWith(text);
}
