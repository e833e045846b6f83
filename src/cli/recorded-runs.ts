import type { CsdkFrame } from '../csdk/index.js';

/**
 * Cuts a recording into its runs while it is read: each ends with its `result` frame. What follows the last result
 * is a run of its own only if the model speaks in it. A run that is not read to its end is skipped to its end.
 */
export async function* recordedRuns(
  frames: AsyncIterable<CsdkFrame>,
): AsyncGenerator<AsyncIterable<CsdkFrame>> {
  const reader = frames[Symbol.asyncIterator]();
  for (let runs = 0; ; runs++) {
    const start = await untilSpeech(reader);
    if (start.length === 0 || (runs > 0 && !isRun(start))) return;
    const run = new RecordedRun(start, reader);
    yield run;
    for await (const _ of run); // skips
  }
}

/** One run: the frames that have been read of it, and those to come. Iterating it again goes on where it was. */
class RecordedRun implements AsyncIterable<CsdkFrame> {
  readonly #read: CsdkFrame[];
  readonly #reader: AsyncIterator<CsdkFrame>;
  #ended = false;

  constructor(read: CsdkFrame[], reader: AsyncIterator<CsdkFrame>) {
    this.#read = read;
    this.#reader = reader;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<CsdkFrame> {
    while (!this.#ended) {
      const frame = this.#read.shift() ?? (await next(this.#reader));
      this.#ended = frame === undefined || frame.type === 'result';
      if (frame !== undefined) yield frame;
    }
  }
}

/** Reads up to the first frame that makes a run of what came before it. */
async function untilSpeech(reader: AsyncIterator<CsdkFrame>): Promise<CsdkFrame[]> {
  const start: CsdkFrame[] = [];
  for (let frame = await next(reader); frame !== undefined; frame = await next(reader)) {
    start.push(frame);
    if (isRun(start)) return start;
  }
  return start;
}

/** So many frames are a run even if the model has not spoken: they are not held for longer. */
const most = 1_000;

function isRun(start: readonly CsdkFrame[]): boolean {
  const last = start.at(-1);
  return (last !== undefined && speaks(last)) || start.length >= most;
}

function speaks({ type }: CsdkFrame): boolean {
  return type === 'assistant' || type === 'stream_event' || type === 'result';
}

async function next(reader: AsyncIterator<CsdkFrame>): Promise<CsdkFrame | undefined> {
  const { done, value } = await reader.next();
  return done === true ? undefined : value;
}
