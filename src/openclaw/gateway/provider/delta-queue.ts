import type { StreamDelta } from '../../../sdk/stream/index.js';
import { Backlog } from '../../../sdk/stream/internal.js';

/**
 * Deltas that wait for their reader: the newest of each phase, so three at most. A snapshot takes the place of the one
 * before it; a `final` or an `error` is the last, and is never dropped (stream §4.5).
 */
export class DeltaQueue extends Backlog<StreamDelta> {
  /** Adds one. After a `final`, an `error` or `close` it is dropped. */
  push(delta: StreamDelta): void {
    if (this.isClosed) return;
    this.waiting = [...this.waiting.filter(({ phase }) => phase !== delta.phase), delta];
    this.isClosed = delta.phase === 'final' || delta.phase === 'error';
    this.wake();
  }
}
