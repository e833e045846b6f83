import { type CsdkFrame, isFields } from '../frames/frame.js';
import type { Frames } from '../frames/shared-frames.js';

/**
 * The frames of a source, each seen before it is read. It is no generator: told to let go while a frame is waited
 * for, one would wait, too, and its source would never be told.
 */
export function watchedFrames(
  messages: Frames,
  see: (frame: CsdkFrame) => void,
): AsyncIterable<CsdkFrame> {
  const source =
    Symbol.asyncIterator in messages
      ? messages[Symbol.asyncIterator]()
      : messages[Symbol.iterator]();
  const watched: AsyncIterator<CsdkFrame> = {
    async next() {
      const next = await source.next();
      if (next.done !== true && isFields(next.value)) see(next.value); // else no frame: told when it is read
      return next;
    },
    async return() {
      await source.return?.();
      return { done: true, value: undefined };
    },
  };
  return { [Symbol.asyncIterator]: () => watched };
}
