import type { CsdkFrame } from './frame.js';

/** A source of frames. */
export type Frames = AsyncIterable<CsdkFrame> | Iterable<CsdkFrame>;

/** The answer to a reader. Narrow by `kind`. `left`: the reader was told to stop waiting, and has taken nothing. */
export type FrameRead =
  | { readonly kind: 'frame'; readonly frame: CsdkFrame }
  | { readonly kind: 'ended' }
  | { readonly kind: 'threw'; readonly error: unknown }
  | { readonly kind: 'left' };

/**
 * One source of frames for readers that come one after the other. The source is asked for a frame only if a reader
 * wants one. A reader can leave while a frame is awaited: the frame then goes to the next reader.
 */
export class SharedFrames {
  readonly #source: AsyncIterator<CsdkFrame> | Iterator<CsdkFrame>;
  #asked: Promise<FrameRead> | undefined;
  #leave: (() => void) | undefined;
  #isClosed = false;
  #isOver = false;

  constructor(frames: Frames) {
    this.#source =
      Symbol.asyncIterator in frames ? frames[Symbol.asyncIterator]() : frames[Symbol.iterator]();
  }

  /** The next frame. One reader at a time. */
  async read(): Promise<FrameRead> {
    if (this.#isClosed || this.#isOver) return { kind: 'ended' };
    this.#asked ??= this.#ask();
    const { promise, leave } = leaving();
    this.#leave = leave;
    const read = await Promise.race([this.#asked, promise]);
    if (read.kind === 'left') return this.#isClosed ? { kind: 'ended' } : read;
    this.#asked = undefined;
    if (read.kind !== 'frame') this.#isOver = true;
    return read;
  }

  /** Wakes the reader that waits: it has taken nothing. */
  interrupt(): void {
    this.#leave?.();
  }

  /** Lets go of the source, once. A source that is being read is not waited for: it may hang in that read. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.interrupt();
    if (this.#isOver) return;
    const closing = letGo(this.#source);
    if (this.#asked === undefined) await closing;
    else closing.catch(() => undefined); // nobody reads on who could be told
  }

  async #ask(): Promise<FrameRead> {
    try {
      const { done, value } = await this.#source.next();
      return done === true ? { kind: 'ended' } : { kind: 'frame', frame: value };
    } catch (error) {
      return { kind: 'threw', error };
    }
  }
}

function leaving(): { readonly promise: Promise<FrameRead>; readonly leave: () => void } {
  let leave = (): void => undefined;
  const promise = new Promise<FrameRead>((resolve) => {
    leave = () => resolve({ kind: 'left' });
  });
  return { promise, leave };
}

async function letGo(source: AsyncIterator<unknown> | Iterator<unknown>): Promise<void> {
  await source.return?.();
}
