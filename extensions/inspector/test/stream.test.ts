import { keepTimeline, memoryJournal, type TimelineRecorder, timelineRecorder } from 'sluice/host';
import { virtualClock } from 'sluice/testing';
import { describe, expect, it } from 'vitest';
import { pacePerSecond, streamEntries } from '../src/stream.js';

interface Sent {
  readonly atMs: number;
  readonly text: string;
}

/** A journal that is followed from a place on, and what the page got. */
function lab() {
  const clock = virtualClock(1_000_000);
  const journal = memoryJournal({ clock });
  const timeline = timelineRecorder({ clock });
  timeline.listen(keepTimeline(journal));
  const follow = (from: string) => {
    const sent: Sent[] = [];
    const stop = new AbortController();
    const sink = {
      writableNeedDrain: false,
      write: (text: string) => sent.push({ atMs: clock.monotonicMs(), text }) > 0,
    };
    const ended = streamEntries(sink, journal, { from, signal: stop.signal, clock });
    const end = (): Promise<void> => {
      stop.abort();
      return ended;
    };
    return { sent, end };
  };
  return { clock, timeline, follow };
}

function send(timeline: TimelineRecorder, id: string, reason = 'none'): void {
  timeline.record(() => ({
    ...{ kind: 'send', id, correlationId: id, state: 'failed', sendKind: 'reply' },
    ...{ cause: reason },
  }));
}

const idsOf = (sent: readonly Sent[]) =>
  sent.map(({ text }) => /^(?:event: summed\n)?id: (\d+)/.exec(text)?.[1]);
const summedIn = (sent: readonly Sent[]) =>
  sent.reduce((sum, { text }) => sum + Number(/"count":(\d+)/.exec(text)?.[1] ?? 0), 0);

describe('the events of a page', () => {
  it('have the number of their record, so that a page goes on where it was', async () => {
    const { clock, timeline, follow } = lab();
    for (const id of ['a', 'b', 'c']) send(timeline, id);
    const first = follow('0');
    await clock.advance(1_000);
    await first.end();
    expect(idsOf(first.sent)).toEqual(['1', '2', '3']);
    send(timeline, 'd');
    const second = follow('3');
    await clock.advance(1_000);
    await second.end();
    expect(idsOf(second.sent)).toEqual(['4']);
    expect(second.sent[0]?.text).toContain('"id":"d"');
  });

  it('are at most 10 in any second, and the rest is summed: none is lost or counted twice', async () => {
    const { clock, timeline, follow } = lab();
    const page = follow('0');
    for (let at = 0; at < 20; at++) {
      for (let more = 0; more < 25; more++) send(timeline, `${at}-${more}`);
      await clock.advance(250);
    }
    await clock.advance(3_000);
    await page.end();
    for (const { atMs } of page.sent) {
      const within = page.sent.filter((one) => one.atMs > atMs - 1_000 && one.atMs <= atMs);
      expect(within.length).toBeLessThanOrEqual(pacePerSecond.events);
    }
    const rows = page.sent.filter(({ text }) => !text.startsWith('event: summed'));
    expect(rows.length + summedIn(page.sent)).toBe(500);
    const ids = idsOf(page.sent).map(Number);
    expect(ids).toEqual([...ids].sort((a, b) => a - b));
    expect(ids.at(-1)).toBe(500);
  });

  it('are at most 100 KB in any second, also if texts are long', async () => {
    const { clock, timeline, follow } = lab();
    const page = follow('0');
    for (let at = 0; at < 30; at++) send(timeline, 'x'.repeat(10_000), 'y'.repeat(100_000));
    await clock.advance(5_000);
    await page.end();
    expect(page.sent.length).toBeGreaterThan(0);
    for (const { atMs } of page.sent) {
      const within = page.sent.filter((one) => one.atMs > atMs - 1_000 && one.atMs <= atMs);
      const bytes = within.reduce((sum, { text }) => sum + Buffer.byteLength(text), 0);
      expect(bytes).toBeLessThanOrEqual(pacePerSecond.bytes);
    }
  });
});
