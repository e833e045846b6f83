import { leavable } from '../../stream/index.js';
import { type CsdkFrame, isFields } from '../frames/frame.js';
import { type FrameRead, type Frames, SharedFrames } from '../frames/shared-frames.js';
import { endOfResult } from '../session/run-end.js';
import { RunEnds, type RunsEnd, speaks } from './run-ends.js';

/** Options for splitting a query into its runs. Each may be left out. */
export interface LiveRunsOptions {
  /**
   * When a run is over: at its `result` (the default), or, with `settled`, at the first result that leaves no task in the
   * background, or when the session says after a result that it is idle. Read such a run with `end: 'idle'`.
   */
  readonly end?: RunsEnd;
  /**
   * The effect on the query of a reader that leaves a run early: nothing (`skip`, the default: the rest of the run is dropped
   * when the next run is asked for), or it closes the query (`close`).
   */
  readonly leave?: 'skip' | 'close';
  /** Closes the query, also while a frame is awaited. */
  readonly signal?: AbortSignal;
}

/** So many frames are a run even if the model has not spoken: they are not held for longer. */
const longestStart = 1_000;

/**
 * Splits a live query, or a recording that is read as a stream, into its runs (csdk §12): a query with streaming input has a
 * turn for each prompt, and each turn ends with its `result`. A frame is read when the reader of a run wants it. A run
 * that ends, or whose reader leaves, leaves the query open; who stops reading the runs closes it.
 *
 * The reader of a run gets what the source throws in it. Between runs it is thrown here, but not after a failed result, where it
 * only says the same again.
 *
 * @example
 * for await (const run of liveRuns(query({ prompt: prompts }), { signal }))
 *   for await (const event of normalizeSession(run, { signal })) show(event);
 */
export function liveRuns(
  frames: AsyncIterable<CsdkFrame> | Iterable<CsdkFrame>,
  options: LiveRunsOptions = {},
): AsyncGenerator<AsyncIterableIterator<CsdkFrame>> {
  return watchedRuns(frames, options, () => undefined);
}

/**
 * The same.
 *
 * @param onOver is called when the last frame of a run was read, before who reads the run gets it.
 */
export function watchedRuns(
  frames: Frames,
  options: LiveRunsOptions,
  onOver: () => void,
): AsyncGenerator<AsyncIterableIterator<CsdkFrame>> {
  const shared = new SharedFrames(frames);
  const { signal } = options;
  const onAbort = (): void => void shared.close().catch(() => undefined); // an abort has nobody to be told
  const close = (): void => {
    signal?.removeEventListener('abort', onAbort);
    closing ??= shared.close();
    closing.catch(() => undefined); // told by release
  };
  let closing: Promise<void> | undefined;
  signal?.addEventListener('abort', onAbort, { once: true });
  if (signal?.aborted === true) onAbort();
  const release = async (): Promise<void> => {
    close();
    await closing;
  };
  return leavable(runsOf(shared, { ...options, onOver }, release), { close, release });
}

async function* runsOf(
  shared: SharedFrames,
  { end = 'result', leave = 'skip', onOver }: LiveRunsOptions & Pick<LiveRunParts, 'onOver'>,
  release: () => Promise<void>,
): AsyncGenerator<AsyncIterableIterator<CsdkFrame>> {
  let last: LiveRun | undefined;
  try {
    for (;;) {
      const { start, stop } = await untilBegun(shared);
      const isRun = stop === undefined || (last === undefined && start.length > 0);
      if (!isRun && stop.kind === 'threw' && last?.hasFailed !== true) throw stop.error;
      if (!isRun) return;
      last = new LiveRun({ shared, start, stop, end, leave, onOver });
      yield last;
      await last.skip();
    }
  } finally {
    await release();
  }
}

interface Start {
  readonly start: CsdkFrame[];
  /** The arrival in the place of a frame that begins a run. */
  readonly stop: FrameRead | undefined;
}

/** Reads up to the first frame that makes a run of what came before it. */
async function untilBegun(shared: SharedFrames): Promise<Start> {
  const start: CsdkFrame[] = [];
  while (start.length < longestStart) {
    const read = await shared.read();
    if (read.kind === 'left') continue; // of a run that was left while this one was asked for
    if (read.kind !== 'frame') return { start, stop: read };
    start.push(read.frame);
    if (begins(read.frame)) break;
  }
  return { start, stop: undefined };
}

/** A turn begins with its `init`; the model may speak before it. */
function begins(frame: CsdkFrame): boolean {
  return speaks(frame) || frame.type === 'result' || frame.subtype === 'init';
}

interface LiveRunParts extends Start {
  readonly shared: SharedFrames;
  readonly end: RunsEnd;
  readonly leave: 'skip' | 'close';
  readonly onOver: () => void;
}

/** One run: the frames that were read of it, and those to come. Iterating it again goes on where it was. */
class LiveRun implements AsyncIterableIterator<CsdkFrame> {
  readonly #with: LiveRunParts;
  readonly #ends: RunEnds;
  #stop: FrameRead | undefined;
  #isOver = false;
  #isLeft = false;
  /** The read that was asked for last, until it has settled: the source has one reader at a time. */
  #reading: Promise<unknown> | undefined;
  /** Its last result says that it failed. */
  hasFailed = false;

  constructor(parts: LiveRunParts) {
    this.#with = parts;
    this.#ends = new RunEnds(parts.end);
    this.#stop = parts.stop;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async next(): Promise<IteratorResult<CsdkFrame>> {
    const before = this.#reading;
    const reading =
      before === undefined ? this.#unlessLeft() : before.then(() => this.#unlessLeft());
    const settled = reading.then(noop, noop);
    this.#reading = settled;
    try {
      return await reading;
    } finally {
      if (this.#reading === settled) this.#reading = undefined;
    }
  }

  /** The reader leaves. */
  async return(): Promise<IteratorResult<CsdkFrame>> {
    const wasOpen = !this.#isOver && !this.#isLeft;
    this.#isLeft = true;
    const { shared, leave } = this.#with;
    if (wasOpen && leave === 'close') await shared.close();
    else if (this.#reading !== undefined) shared.interrupt();
    return over;
  }

  /** Drops what was not read. Nobody wanted what the source throws meanwhile. */
  async skip(): Promise<void> {
    await this.return();
    await this.#reading;
    while (!this.#isOver) await this.#read().catch(noop);
  }

  async #unlessLeft(): Promise<IteratorResult<CsdkFrame>> {
    return this.#isLeft ? over : this.#read();
  }

  async #read(): Promise<IteratorResult<CsdkFrame>> {
    if (this.#isOver) return over;
    const { start, shared } = this.#with;
    const first = start.shift();
    const read: FrameRead =
      first === undefined ? (this.#stop ?? (await shared.read())) : { kind: 'frame', frame: first };
    if (read.kind === 'left') return over;
    if (read.kind === 'frame') {
      this.#note(read.frame);
      return { done: false, value: read.frame };
    }
    this.#over();
    if (read.kind === 'threw') throw read.error;
    return over;
  }

  #note(frame: CsdkFrame): void {
    if (isFields(frame) && frame.type === 'result') {
      const { error, aborted } = endOfResult(frame, undefined);
      this.hasFailed = error !== undefined || aborted === true;
    }
    if (this.#ends.take(frame)) this.#over();
  }

  #over(): void {
    this.#isOver = true;
    this.#with.onOver();
  }
}

const noop = (): void => undefined;

const over: IteratorResult<CsdkFrame> = { done: true, value: undefined };
