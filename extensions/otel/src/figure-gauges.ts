import type { Figures } from 'sluice/extension';
import type { InstrumentName } from './instruments.js';

/** The values of the gauges, from the figures of a host. */
export function gaugesOf(
  { stats, health, journal }: Figures,
  nowMs: number,
): [InstrumentName, number][] {
  const { oldestDeadAtMs = nowMs } = journal;
  const { dispatchesDropped = 0, commits = 0, commitMs = 0 } = stats.journal ?? {};
  return [
    ['sluice.lanes.jobs', stats.waiting],
    ['sluice.messages.running', stats.running],
    ['sluice.quarantined', health.kernel.quarantined.length],
    [
      'sluice.extensions.refused',
      health.extensions.filter(({ status }) => status === 'disabled').length,
    ],
    ['sluice.dead_letters', journal.updates.dead],
    ['sluice.dead_letters.oldest_age', (nowMs - oldestDeadAtMs) / 1_000],
    ['sluice.dispatches.dropped', dispatchesDropped],
    ['sluice.journal.commit.duration', commits === 0 ? 0 : commitMs / commits / 1_000],
  ];
}
