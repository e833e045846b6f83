import { describe, expectTypeOf, it } from 'vitest';
import type { ExtensionApi } from '../../src/index.js';

describe('the types of a schedule (extensions-that-act §6.1)', () => {
  it('take either a cron expression or a moment, and refuse the rest', () => {
    const uses = ({ schedule }: ExtensionApi): void => {
      schedule('a', { cron: '0 9 * * *', timeZone: 'Europe/Berlin', misfire: 'once' }, () => 1);
      schedule('b', { at: '2026-12-24T18:00' }, async () => undefined);
      schedule('c', { at: new Date() }, () => undefined);
      // @ts-expect-error it needs times
      schedule('d', { timeZone: 'UTC' }, () => undefined);
      // @ts-expect-error it is one or the other
      schedule('e', { cron: '0 9 * * *', at: '2026-12-24T18:00' }, () => undefined);
      // @ts-expect-error there is no such misfire
      schedule('f', { cron: '0 9 * * *', misfire: 'all' }, () => undefined);
      // @ts-expect-error there is no such option
      schedule('g', { cron: '0 9 * * *', timezone: 'UTC' }, () => undefined);
      // @ts-expect-error it needs a handler
      schedule('h', { cron: '0 9 * * *' });
    };
    expectTypeOf(uses).returns.toEqualTypeOf<void>();
  });

  it('say what a run is given', () => {
    const use = ({ schedule }: ExtensionApi): void =>
      schedule('a', { cron: '0 9 * * *' }, (run) => {
        expectTypeOf(run).toEqualTypeOf<{
          readonly id: string;
          readonly dueAt: number;
          readonly attempt: number;
          readonly signal: AbortSignal;
        }>();
      });
    expectTypeOf(use).returns.toEqualTypeOf<void>();
  });
});
