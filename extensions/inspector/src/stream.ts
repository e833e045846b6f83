import type { ServerResponse } from 'node:http';
import type { Clock } from 'sluice';
import { cursorOf, followJournal, type JournalReader, type TimelineCursor } from 'sluice/host';
import { Pace } from './pace.js';
import { rowOf } from './row.js';

/** The place that a stream of events goes to. */
export type EventSink = Pick<ServerResponse, 'write' | 'writableNeedDrain'>;

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
