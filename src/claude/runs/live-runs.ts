import { leavable } from '@sluice/sdk/stream';
import { type Clock, systemClock } from 'sluice-kernel';
import { type Arrival, Arrivals, type Frames } from '../frames/arrivals.js';
import { type CsdkFrame, isFields } from '../frames/frame.js';
import { endOfResult } from '../session/run-end.js';
import { type RunsEnd, runEnds, speaks } from './run-ends.js';
import { waitsMs } from './session-reading.js';

/** Options for splitting a query into its runs. Each may be left out. */
export interface LiveRunsOptions {
  /**
   * When a run is over: at its `result` (the default), or, with `settled`, when nothing of it is left, as `normalizeSession` reads
   * it: so what a task in the background brings stays in the run that started it.
   */
  readonly end?: RunsEnd;
  /** With `settled`: limits the wait for a turn that may follow at once, as in `normalizeSession`. */
  readonly idleTimeoutMs?: number;
  /** The clock of `idleTimeoutMs`. */
  readonly clock?: Clock;
  /**
   * The effect on the query of a reader that leaves a run early: nothing (`skip`, the default: the rest of the turn is dropped
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
  const { signal, clock = systemClock } = options;
  const arrivals = new Arrivals({ messages: frames, clock });
  const closeSource = async (): Promise<void> => {
    arrivals.close();
    const failed = await arrivals.release();
    if (failed !== undefined) throw failed.error;
  };
  const onAbort = (): void => void closeSource().catch(noop); // an abort has nobody to be told
  const close = (): void => {
    signal?.removeEventListener('abort', onAbort);
    closing ??= closeSource();
    closing.catch(noop); // told by release
  };
  let closing: Promise<void> | undefined;
  signal?.addEventListener('abort', onAbort, { once: true });
  if (signal?.aborted === true) onAbort();
  const release = async (): Promise<void> => {
    close();
    await closing;
  };
  return leavable(runsOf({ ...options, arrivals, closeSource, onOver }, release), {
    close,
    release,
  });
}

interface RunsParts extends LiveRunsOptions {
  readonly arrivals: Arrivals;
  readonly closeSource: () => Promise<void>;
  readonly onOver: () => void;
}

async function* runsOf(
  parts: RunsParts,
  release: () => Promise<void>,
): AsyncGenerator<AsyncIterableIterator<CsdkFrame>> {
  let last: LiveRun | undefined;
  try {
    for (;;) {
      const { start, stop } = await untilBegun(parts.arrivals);
      const isRun = stop === undefined || (last === undefined && start.length > 0);
      if (!isRun && stop.kind === 'threw' && last?.hasFailed() !== true) throw stop.error;
      if (!isRun) return;
      last = liveRun(parts, { start, stop });
      yield last.frames;
      await last.skip();
    }
  } finally {
    await release();
  }
}

interface Start {
  readonly start: CsdkFrame[];
  /** The arrival in the place of a frame that begins a run. */
  readonly stop: Arrival | undefined;
}

/** Reads up to the first frame that makes a run of what came before it. */
async function untilBegun(arrivals: Arrivals): Promise<Start> {
  const start: CsdkFrame[] = [];
  while (start.length < longestStart) {
    const read = await arrivals.next();
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

/** One run: the frames that were read of it, and those to come. Iterating it again goes on where it was. */
function liveRun(parts: RunsParts, { start, stop }: Start) {
  const { arrivals, closeSource, onOver, end = 'result', leave = 'skip' } = parts;
  const { moment } = waitsMs(parts.idleTimeoutMs);
  const ends = runEnds(end);
  let isOver = false;
  let isLeft = false;
  let isReading = false;
  let hasFailed = false;
  let closing: Promise<void> | undefined;

  async function read(): Promise<IteratorResult<CsdkFrame>> {
    if (isOver) return over;
    const frame = start.shift();
    isReading = true;
    const { rest, wait } = ends.work;
    arrivals.wakeAfter(rest === 'moment' ? moment : undefined, wait);
    const next: Arrival =
      frame === undefined ? (stop ?? (await arrivals.next())) : { kind: 'frame', frame };
    isReading = false;
    if (next.kind === 'left') return over;
    if (next.kind === 'frame') note(next.frame);
    else endRun();
    if (next.kind === 'threw') throw next.error;
    return next.kind === 'frame' ? { done: false, value: next.frame } : over;
  }

  function note(frame: CsdkFrame): void {
    if (isFields(frame) && frame.type === 'result') {
      const { error, aborted } = endOfResult(frame, undefined);
      hasFailed = error !== undefined || aborted === true;
    }
    if (ends.take(frame)) endRun();
  }

  function endRun(): void {
    isOver = true;
    arrivals.wakeAfter(undefined, '');
    onOver();
  }

  async function* readAll(): AsyncGenerator<CsdkFrame> {
    while (!isLeft) {
      const { done, value } = await read();
      if (done === true) return;
      yield value;
    }
  }

  const frames = leavable(readAll(), {
    close() {
      if (!isOver && !isLeft && leave === 'close') closing = closeSource();
      else if (isReading) arrivals.interrupt();
      isLeft = true;
    },
    release: async () => closing,
  });
  return {
    frames,
    /** Its last result says that it failed. */
    hasFailed: (): boolean => hasFailed,
    /**
     * Drops what was not read of the turn that goes on: what follows it is a run, for its tasks may never end. Nobody wanted what
     * the source throws meanwhile.
     */
    async skip(): Promise<void> {
      await frames.return(undefined);
      const { work } = ends;
      while (!isOver && (work.rest === 'turn' || !work.hasResult)) await read().catch(noop);
      if (!isOver) endRun();
    },
  };
}

type LiveRun = ReturnType<typeof liveRun>;

const noop = (): void => undefined;

const over = { done: true, value: undefined } as const;
