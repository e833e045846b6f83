import { describe, expect, it } from 'vitest';
import {
  defineExtension,
  type ExtensionApi,
  loadExtension,
} from '../../../../src/sdk/extension/index.js';
import { createTestKernel, loadForTest } from '../../../../src/testing/index.js';

type Times = Parameters<ExtensionApi['schedule']>[1];

const extensionWith = (...all: readonly unknown[]) =>
  defineExtension({
    id: 'acme',
    setup: (api) => {
      for (const times of all) api.schedule('tea', times as Times, () => 'made'); // as from JavaScript
    },
  });

const daily = { cron: '0 16 * * *' };

describe('registering a schedule (extensions-that-act §6.1)', () => {
  it.each<[unknown, string]>([
    [{ cron: 'nonsense' }, `its "cron" cannot be read: invalid configuration format`],
    [{ cron: '61 * * * *' }, 'its "cron" cannot be read: Invalid value for minute: 61'],
    [{ cron: '0 0 30 2 *' }, 'its "cron" (0 0 30 2 *) never comes due'],
    [{ cron: '2026-03-15T09:00' }, 'its "cron" is a date: write it as "at"'],
    [{ ...daily, timeZone: 'Mars/Olympus' }, 'there is no time zone "Mars/Olympus"'],
    [{ ...daily, timezone: 'UTC' }, 'there is no option "timezone"; did you mean "timeZone"?'],
    [{ ...daily, misfire: 'all' }, 'its misfire must be "skip" or "once", not "all"'],
    [{ ...daily, at: '2026-03-15T09:00' }, 'it needs either "cron" or "at"'],
    [{}, 'it needs either "cron" or "at"'],
    [
      { at: 'tomorrow' },
      'its "at" must be a date, or a text such as 2026-03-15T09:00, not "tomorrow"',
    ],
    [{ at: '2026-02-30T09:00' }, 'not "2026-02-30T09:00"'],
    [{ at: '2026-03-15T25:00' }, 'not "2026-03-15T25:00"'],
    [{ at: new Date(Number.NaN) }, 'its "at" must be a date'],
    [undefined, 'its times must be an object'],
  ])('refuses %j, and says why', async (times, problem) => {
    await expect(loadForTest(extensionWith(times))).rejects.toMatchObject({
      code: 'bad-registration',
      message: expect.stringContaining(`acme: api.schedule("tea"): `),
    });
    await expect(loadForTest(extensionWith(times))).rejects.toThrow(problem);
  });

  it('refuses a name that is taken', async () => {
    await expect(loadForTest(extensionWith(daily, daily))).rejects.toThrow(
      'acme: api.schedule("tea"): there is one of that name already',
    );
  });

  it('needs the grant `schedule` if grants are held (extensions-that-act §1.3)', async () => {
    const grants = { acme: ['inject'] };
    await expect(loadForTest(extensionWith(daily), { grants })).rejects.toMatchObject({
      code: 'not-granted',
      message: expect.stringContaining('schedule'),
    });
    await using test = await loadForTest(extensionWith(daily), { grants: { acme: ['schedule'] } });
    expect(test.schedules()).toEqual(['tea']);
  });

  it('is refused without a host (extensions-that-act §1.2)', async () => {
    const { kernel } = createTestKernel();
    const result = await loadExtension(kernel, extensionWith(daily));
    expect(result).toMatchObject({ status: 'disabled', error: { code: 'no-host' } });
  });

  it('is seen by a test, which runs it', async () => {
    const runs: unknown[] = [];
    const extension = defineExtension({
      id: 'acme',
      setup: (api) => api.schedule('tea', daily, (run) => runs.push(run)),
    });
    await using test = await loadForTest(extension);
    expect(test.schedules()).toEqual(['tea']);
    await test.runSchedule('tea', { attempt: 2 });
    expect(runs).toMatchObject([{ id: 'run-tea', attempt: 2, dueAt: test.clock.now() }]);
    await expect(test.runSchedule('coffee')).rejects.toThrow('there is no schedule "coffee"');
  });
});
