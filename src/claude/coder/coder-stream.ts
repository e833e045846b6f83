import { leavable } from '@sluice/sdk/stream';
import { systemClock } from 'sluice-kernel';
import { Arrivals } from '../frames/arrivals.js';
import type { CsdkCallback } from '../frames/callback.js';
import type { CsdkFrame } from '../frames/frame.js';
import type { CoderStreamEvent } from './blocks/coder-event.js';
import { CoderRun } from './coder-run.js';

/** Options of `coderStream`. */
export interface CoderStreamOptions {
  /** The thread that goes on: a session of this id is no news. */
  readonly threadId?: string;
  /** Ends the run: `cancelled`, then `error` with the code `interrupted`. */
  readonly signal?: AbortSignal;
  /** The calls of the SDK to its host: permissions and hooks. See `callbackQueue`. */
  readonly callbacks?: AsyncIterable<CsdkCallback>;
  /** Milliseconds since 1970. The system's clock unless given. */
  readonly now?: () => number;
  /**
   * When the run is over. `stream` (the default): when its frames end; the last result of its own then says how.
   * `result`: at the first result that no queued turn follows, for a query that is kept open for the next prompt;
   * the source is then closed, unless its `return` keeps it open.
   */
  readonly end?: 'stream' | 'result';
}

/**
 * A whole run of real SDK frames as coder events (seed 002). Of each text the pieces come once, with `delta`, and
 * the whole once, without. The last event is always `done` or `error`, and nothing is ever thrown: what the source
 * throws becomes an `error`. A reader that leaves early closes the source, also while a frame is waited for.
 *
 * @example
 * for await (const event of coderStream(query({ prompt }), { signal })) {
 *   if (event.type === 'message' && event.delta) process.stdout.write(event.text ?? '');
 *   if (event.type === 'error') process.exitCode = 1;
 * }
 */
export function coderStream(
  messages: AsyncIterable<CsdkFrame> | Iterable<CsdkFrame>,
  options: CoderStreamOptions = {},
): AsyncGenerator<CoderStreamEvent> {
  const { callbacks, signal } = options;
  const arrivals = new Arrivals({ messages, callbacks, signal, clock: systemClock });
  return leavable(eventsOf(arrivals, options), arrivals);
}

async function* eventsOf(
  arrivals: Arrivals,
  { threadId, signal, now = systemClock.now, end }: CoderStreamOptions,
): AsyncGenerator<CoderStreamEvent> {
  const run = new CoderRun(now, threadId);
  try {
    for (let isOver = false; !isOver; ) {
      const ready = arrivals.next();
      const next = ready instanceof Promise ? await ready : ready;
      if (next.kind === 'closed') return;
      if (next.kind === 'aborted') void arrivals.release(); // now: the reader may never come back
      isOver = run.read(next, { endsAtResult: end === 'result', signal });
      for (const event of run.take()) yield event;
    }
  } finally {
    await arrivals.release();
  }
}
