import { describe, expect, it } from 'vitest';
import type { HostParts } from '../../../src/host/parts/parts.js';
import { watchSchedules } from '../../../src/host/receive/due-schedules.js';
import { KeptTimes } from '../../../src/host/receive/kept-times.js';
import { memoryKeyValues } from '../../../src/sdk/extension/internal.js';
import { createTestKernel } from '../../../src/testing/index.js';

/** A host without schedules, as far as its watch of them reads it. @param dispatch stands for the kernel's. */
function watched(dispatch: (told: number, load: () => void) => Promise<void> | undefined) {
  const { clock, log } = createTestKernel();
  const told: string[] = [];
  const claimed: { onClaimed?: () => void; registered: () => readonly [] } = {
    registered: () => [],
  };
  const load = (): void => claimed.onClaimed?.();
  const kernel = {
    dispatch: async (_family: string, { reason }: { reason: string }) => {
      told.push(reason);
      await dispatch(told.length, load);
    },
  };
  // the rest of a host is not read if there is no schedule
  const parts = { clock, logger: log, claimed, kernel } as unknown as HostParts;
  const times = new KeptTimes(memoryKeyValues(clock));
  return { clock, log, told, load, watch: watchSchedules(parts, times) };
}

describe('schedule.reconciled', () => {
  it('tells of a load that comes while another one is told (extensions-that-act §6.6)', async () => {
    const { clock, told, watch } = watched(async (count, load) => {
      if (count === 1) load();
    });
    await clock.advance(1);
    expect(told).toEqual(['startup', 'reload']);
    watch[Symbol.dispose]();
  });

  it('ends no host when it cannot be dispatched, and no watch (extensions-that-act §6.6)', async () => {
    const { clock, log, told, load, watch } = watched((count) =>
      count === 1 ? Promise.reject(new Error('the kernel is closed')) : undefined,
    );
    await clock.advance(1);
    load();
    await clock.advance(1);
    expect(told).toEqual(['startup', 'reload']);
    expect(log.messages()).toContain('schedule.reconciled failed');
    watch[Symbol.dispose]();
  });

  it('is not told any more when the host stops (extensions-that-act §6.6)', async () => {
    const { clock, told, watch } = watched(() => undefined);
    watch[Symbol.dispose]();
    await clock.advance(1);
    expect(told).toEqual([]);
  });
});
