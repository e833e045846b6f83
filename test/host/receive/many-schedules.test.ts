import { expect, it, vi } from 'vitest';
import { memoryJournal } from '../../../src/journal/index.js';
import { actingLab } from '../../support/acting-lab.js';
import { sideBySide } from '../../support/side-by-side.js';

it('looks at 10,000 schedules, and at no more than eight at once (extensions-that-act §6)', async () => {
  const journal = memoryJournal();
  const { keyValues } = journal;
  const reads = sideBySide();
  const get: typeof keyValues.get = (...at) =>
    at[0] === '/schedules' ? reads.run(() => keyValues.get(...at)) : keyValues.get(...at);
  await using lab = await actingLab({
    journal: { ...journal, keyValues: { ...keyValues, get } },
    setup: (api) => {
      for (let at = 0; at < 10_000; at++)
        api.schedule(`tick${at}`, { cron: '0 0 1 1 *' }, () => undefined);
    },
  });
  await vi.waitFor(() => expect(lab.of('schedule.reconciled')).toHaveLength(1), 60_000);
  expect(lab.of('schedule.reconciled')).toMatchObject([{ payload: { schedules: 10_000 } }]);
  expect([reads.most, reads.ran >= 10_000]).toEqual([8, true]);
});
