import { describe, expect, it } from 'vitest';
import { createKernel } from '../../../src/kernel/internal.js';
import { HandlerWatch } from '../../../src/sdk/extension/index.js';
import { collectingLogger } from '../../../src/testing/index.js';
import { faultClock } from '../../support/faults-clock.js';

/** A watch on a clock that the test moves: a late timer is a blocked loop. */
function watched() {
  const clock = faultClock();
  const late = { ms: 0 };
  const slow = {
    ...clock,
    monotonicMs: () => clock.monotonicMs() + late.ms,
  };
  const log = collectingLogger();
  const watch = new HandlerWatch({ logger: log, clock: slow, attributeRejections: false });
  watch.watch(createKernel({ clock: slow, instrument: watch.instrument }));
  return { clock, late, log, watch };
}

describe('the watch of the event loop (§13.11)', () => {
  it('says nothing of a loop that was blocked before the host had started', () => {
    const { clock, late, log, watch } = watched();
    late.ms = 531; // the host loads its modules
    clock.advance(1_000);
    watch.watchLoop();
    clock.advance(1_000);
    expect(log.messages('warn')).toEqual([]);
    watch[Symbol.dispose]();
    expect(clock.armed).toBe(0);
  });

  it('tells of a loop that is blocked after that, once', () => {
    const { clock, late, log, watch } = watched();
    watch.watchLoop();
    watch.watchLoop(); // the second call does nothing
    late.ms = 531;
    clock.advance(1_000);
    expect(log.messages('warn')).toEqual([
      'everything was blocked for 531 ms; handlers that had not settled: none',
    ]);
    watch[Symbol.dispose]();
    expect(clock.armed).toBe(0);
  });
});
