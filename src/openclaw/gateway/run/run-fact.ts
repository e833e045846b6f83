import { type Fields, isFields } from 'sluice-kernel/internal';

/** Text so far, of what is thought or of what is said. */
export interface SnapshotFact {
  readonly kind: 'thinking' | 'text';
  readonly text: string;
  /** It is the first of its message, as far as the gateway says: all of it is new. */
  readonly opens: boolean;
  /** The gateway says that it goes on, or does not say. */
  readonly continues: boolean;
  /** The text that its message began with, if snapshots were merged while nobody read. */
  readonly opening?: string;
}

/** Something of a tool call. */
export interface ToolFact {
  readonly kind: 'tool';
  readonly phase: 'start' | 'update' | 'end';
  readonly toolCallId: string;
  readonly toolName: string;
  readonly args: Fields;
  /** With `update` what there is so far, with `end` the result; absent if the gateway withholds it. */
  readonly result?: unknown;
  readonly isError: boolean;
}

/** The agent makes room in its context. */
interface CompactionFact {
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
      /** The agent may have worked on the message. */
      readonly reachedAgent: boolean;
    };

/** One thing that a gateway tells of a run. Narrow by `kind`. The last one is an `end`. */
export type RunFact = SnapshotFact | ToolFact | CompactionFact | RunEndFact;

/** Returns whether a text begins another message: it is new, or has nothing in common with the text that was shown. */
export function isAnotherMessage(
  shown: string,
  { text, opens, continues, opening = text }: SnapshotFact,
): boolean {
  if (shown === '' || opening === shown) return false;
  if (opens) return true;
  return !continues && !text.startsWith(shown) && !shown.startsWith(text);
}

/** Reads the data of a `tool` event; nothing if it names no call. */
export function toolFactOf(data: Fields): ToolFact | undefined {
  const { toolCallId, name, phase, args, partialResult, result, isError } = data;
  const known = phases[String(phase)];
  if (typeof toolCallId !== 'string' || toolCallId === '' || known === undefined) return undefined;
  const said = known === 'update' ? partialResult : result;
  return {
    kind: 'tool',
    phase: known,
    toolCallId,
    toolName: typeof name === 'string' && name !== '' ? name : 'unknown',
    args: isFields(args) ? args : {},
    isError: isError === true,
    ...(known !== 'start' && said !== undefined && { result: said }),
  };
}

const phases: Readonly<Record<string, ToolFact['phase']>> = {
  start: 'start',
  update: 'update',
  result: 'end',
  end: 'end',
};
