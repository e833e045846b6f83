import type { ServerResponse } from 'node:http';
import type { Clock } from 'sluice';
import { cursorOf, followJournal, type JournalReader, type TimelineCursor } from 'sluice/host';
import { rowOf } from './row.js';

/** The place that a stream of events goes to. */
type EventSink = Pick<ServerResponse, 'write' | 'writableNeedDrain'>;

/**
 * Writes the entries of a journal as server-sent events, from a cursor on, within the pace of a page. What would be too much
 * is summed: an event `summed` says how many lines there are besides, and where. Each event has the cursor of its last entry as
 * its id, so that a page goes on where it was.
 */
export async function streamEntries(
  sink: EventSink,
  reader: Pick<JournalReader, 'dispatches'>,
  {
    from,
    signal,
    clock,
  }: { readonly from: TimelineCursor | 'now'; readonly signal: AbortSignal; readonly clock: Clock },
): Promise<void> {
  const pace = new Pace(clock);
  let summed = 0;
  let last = '';
  const put = (text: string): boolean => {
    if (sink.writableNeedDrain || !pace.takes(Buffer.byteLength(text))) return false;
    sink.write(text);
    return true;
  };
  const putSum = (): void => {
    if (summed > 0 && put(`event: summed\nid: ${last}\ndata: {"count":${summed}}\n\n`)) summed = 0;
  };
  let timer = clock.setTimeout(tick, 1_000);
  function tick(): void {
    putSum();
    timer = clock.setTimeout(tick, 1_000);
    timer.unref?.();
  }
  try {
    for await (const record of followJournal(reader, { from, signal, clock })) {
      putSum(); // first, with the place before this record: a page that comes again gets it
      last = cursorOf(record);
      const text = `id: ${last}\ndata: ${JSON.stringify(rowOf(record))}\n\n`;
      if (summed > 0 || !put(text)) summed++;
    }
  } finally {
    clock.clearTimeout(timer);
  }
}

/** The most that one page receives in any second. */
export const pacePerSecond = { events: 10, bytes: 100_000 } as const;

/**
 * Keeps an event stream within its pace: in no second more than so many events and bytes.
 *
 * @example
 * if (pace.takes(Buffer.byteLength(text))) response.write(text);
 */
class Pace {
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  #sent: { readonly atMs: number; readonly bytes: number }[] = [];

  constructor(clock: Pick<Clock, 'monotonicMs'>) {
    this.#clock = clock;
  }

  /** Tells if an event of that size may go out now, and counts it then. */
  takes(bytes: number): boolean {
    const atMs = this.#clock.monotonicMs();
    this.#sent = this.#sent.filter((one) => atMs - one.atMs < 1_000);
    const total = this.#sent.reduce((sum, one) => sum + one.bytes, bytes);
    if (this.#sent.length >= pacePerSecond.events || total > pacePerSecond.bytes) return false;
    this.#sent.push({ atMs, bytes });
    return true;
  }
}
