import type { ServerResponse } from 'node:http';
import type { Clock } from 'sluice';
import { followJournal, type JournalReader } from 'sluice/host';

/** Milliseconds between two events of a page. */
const paceMs = 1_000;

/**
 * Tells a page how many entries a journal has got, at most once a second, as server-sent events. The page asks for what it shows.
 *
 * @param sink the response of the page.
 */
export async function streamCounts(
  sink: Pick<ServerResponse, 'write' | 'writableNeedDrain'>,
  reader: Pick<JournalReader, 'dispatches'>,
  { signal, clock }: { readonly signal: AbortSignal; readonly clock: Clock },
): Promise<void> {
  let count = 0;
  let timer = clock.setTimeout(tick, paceMs);
  function tick(): void {
    if (count > 0 && !sink.writableNeedDrain) {
      sink.write(`data: ${count}\n\n`);
      count = 0;
    }
    timer = clock.setTimeout(tick, paceMs);
    timer.unref?.();
  }
  try {
    for await (const _ of followJournal(reader, { from: 'now', signal, clock })) count++;
  } finally {
    clock.clearTimeout(timer);
  }
}
