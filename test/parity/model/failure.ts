import { type HandlerSpec, type HookSet, readable } from '../hooks/hook-set.js';
import type { Recorder } from './recorder.js';
import type { Rows } from './rows.js';

/** Thrown where the runner's method throws. */
export class Stopped {
  readonly message: string;
  readonly cause: unknown;

  constructor(message: string, cause?: unknown) {
    this.message = message;
    this.cause = cause;
  }
}

/** Stands for what the stage says of an output that it refused, or of a handler that it cut: its words are its own. */
export const itsWords = '<what the stage says>';

/** What a model needs to know to follow a set. */
export interface Followed {
  readonly set: HookSet;
  readonly recorder: Recorder;
  readonly rows: Rows;
}

/** A handler that failed: told, or thrown on. */
export function fail({ set, recorder, rows }: Followed, spec: HandlerSpec, error: unknown): void {
  let read = readable(error);
  if (read === 'unreadable') {
    if (!rows.take('unreadable-error-is-told', true))
      throw new Stopped('Cannot convert object to primitive value');
    read = 'an error that cannot be read';
  }
  tellOf({ set, recorder, rows }, spec, read, error);
}

/** Tells what became of a handler, or throws it on. */
export function tellOf(
  { set, recorder }: Followed,
  spec: HandlerSpec,
  problem: string,
  cause?: unknown,
): void {
  const text = `[hooks] ${set.hook} handler from ${spec.pluginId} failed: ${problem}`;
  if (!set.catchErrors) throw new Stopped(text, cause);
  recorder.tell('error', text);
}

/** What `Stopped` an action ends with. */
export function caught(act: () => void): Stopped | undefined {
  try {
    act();
    return undefined;
  } catch (stopped) {
    if (stopped instanceof Stopped) return stopped;
    throw stopped;
  }
}
