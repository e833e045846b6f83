import {
  expectCancelled,
  expectFailed,
  expectPassed,
  loadForTest,
  samplePayload,
} from 'sluice/testing';
import { describe, expect, it } from 'vitest';
import quietHours from '../src/index.js';

const night = { from: '22:00', to: '07:00', timeZone: 'Europe/Lisbon' };
// `explicit`: its account is named, so that no resolver has to choose one
const notice = { kind: 'notice', explicit: true } as const;
const at = (time: string) => ({ occurredAt: Date.parse(`2026-07-15T${time}:00+01:00`) }); // summer time in Lisbon

describe('quiet-hours', () => {
  it.each(['22:00', '23:59', '00:00', '06:59'])('keeps a notice back at %s', async (time) => {
    await using test = await loadForTest(quietHours, { config: night });
    const outcome = await test.dispatch('egress.preparing', notice, at(time));
    const { cancel } = expectCancelled(outcome, { code: 'quiet-hours', by: 'quiet-hours/night' });
    expect(cancel.text).toBe('quiet until 07:00 (Europe/Lisbon)');
  });

  it.each(['07:00', '12:00', '21:59'])('lets a notice go at %s', async (time) => {
    await using test = await loadForTest(quietHours, { config: night });
    expectPassed(await test.dispatch('egress.preparing', notice, at(time)));
  });

  it('takes a span within one day, too', async () => {
    await using test = await loadForTest(quietHours, { config: { from: '12:00', to: '13:00' } });
    const midday = { occurredAt: Date.parse('2026-07-15T12:30:00Z') };
    expectCancelled(await test.dispatch('egress.preparing', notice, midday));
    expectPassed(await test.dispatch('egress.preparing', notice, at('12:30'))); // 11:30 in UTC
  });

  it('lets answers go unless allowKinds leaves them out', async () => {
    await using kind = await loadForTest(quietHours, { config: night });
    expectPassed(
      await kind.dispatch('egress.preparing', { ...notice, kind: 'reply' }, at('23:00')),
    );

    await using strict = await loadForTest(quietHours, { config: { ...night, allowKinds: [] } });
    expectCancelled(
      await strict.dispatch('egress.preparing', { ...notice, kind: 'reply' }, at('23:00')),
    );
  });

  it('counts what it kept back, and not what others did', async () => {
    const test = await loadForTest(quietHours, { config: night });
    const ours = { extensionId: 'quiet-hours', contributionId: 'night', code: 'quiet-hours' };
    await test.dispatch('egress.cancelled', { cancel: ours });
    await test.dispatch('egress.cancelled', { cancel: { ...ours, extensionId: 'acme' } });
    await test.dispose();
    expect(test.log.messages('info')).toEqual(['kept a message back', 'kept 1 back in all']);
  });

  it.each([true, false])(
    'with failClosed %s a time that cannot be told decides',
    async (failClosed) => {
      await using test = await loadForTest(quietHours, { config: { ...night, failClosed } });
      const never = { occurredAt: 9e15 }; // beyond what a date can be: formatting it throws
      const outcome = await test.dispatch('egress.preparing', notice, never);
      if (failClosed) expectFailed(outcome, 'threw');
      else
        expect(expectPassed(outcome).failures).toMatchObject([{ kind: 'threw', policy: 'open' }]);
    },
  );

  it.each([
    [{ ...night, from: '22' }, 'quiet-hours: config.from: must be HH:MM'],
    [{ from: '22:00' }, 'quiet-hours: config.to: must be HH:MM'],
    [{ from: '22:00', to: '22:00' }, 'quiet-hours: config.to: must differ from config.from'],
    [
      { ...night, timeZone: 'Lisbon' },
      'quiet-hours: config.timeZone: must be a time zone, such as Europe/Lisbon',
    ],
    [{ ...night, form: '22:00' }, 'quiet-hours: config: Unrecognized key: "form"'],
  ])('says what is wrong with %j', async (config, message) => {
    await expect(loadForTest(quietHours, { config })).rejects.toThrow(message);
  });

  it('leaves nothing behind when it is unloaded', async () => {
    const test = await loadForTest(quietHours, { config: night });
    await test.dispose();
    const { kernel } = test;
    expect(kernel.stats().contributions).toBe(0);
    expectPassed(
      await kernel.dispatch(
        'egress.preparing',
        { ...samplePayload('egress.preparing'), ...notice },
        at('23:00'),
      ),
    );
  });
});
