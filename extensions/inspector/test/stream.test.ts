import { keepTimeline, memoryJournal, timelineRecorder } from 'sluice/host';
import { virtualClock } from 'sluice/testing';
import { expect, it } from 'vitest';
import { streamCounts } from '../src/stream.js';

it('the events of a page are one a second, and add up to all that has happened, also if the page is slow', async () => {
  const clock = virtualClock(1_000_000);
  const journal = memoryJournal({ clock });
  const timeline = timelineRecorder({ clock });
  timeline.listen(keepTimeline(journal));
  const sent: { readonly atMs: number; readonly count: number }[] = [];
  const sink = {
    writableNeedDrain: false,
    write: (text: string) =>
      sent.push({ atMs: clock.monotonicMs(), count: Number(/^data: (\d+)\n\n$/.exec(text)?.[1]) }) >
      0,
  };
  const stop = new AbortController();
  const ended = streamCounts(sink, journal, { signal: stop.signal, clock });
  await clock.advance(250);
  for (let at = 0; at < 20; at++) {
    sink.writableNeedDrain = at > 8 && at < 16;
    for (let more = 0; more < 25; more++)
      timeline.record(() => ({
        ...{ kind: 'send', id: `${at}-${more}`, correlationId: 'x'.repeat(10_000) },
        ...{ state: 'failed', sendKind: 'reply' },
      }));
    await clock.advance(250);
  }
  await clock.advance(3_000);
  stop.abort();
  await ended;
  expect(sent.reduce((sum, { count }) => sum + count, 0)).toBe(500);
  expect(sent.length).toBeLessThanOrEqual(5);
  for (const [at, { atMs }] of sent.entries())
    expect(atMs - (sent[at - 1]?.atMs ?? 0)).toBeGreaterThanOrEqual(1_000);
});
