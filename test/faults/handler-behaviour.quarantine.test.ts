import { describe, expect, it } from 'vitest';
import { allow, cancel, type HandlerResult, openKernel } from '../../src/kernel/internal.js';
import { createTestKernel, samplePayload } from '../../src/testing/index.js';

const quarantine = { failures: 3, windowMs: 10_000, coolDownMs: 5_000 };
const egress = () => ({ ...samplePayload('egress.preparing'), explicit: true, content: 'hi' });

type Veto = () => HandlerResult<'egress.preparing', 'veto'>;

/** A kernel with one veto, a mutator after it, and how often each was called. */
function lab(veto: Veto, options: { readonly failClosed?: boolean } = {}) {
  const test = createTestKernel({ quarantine });
  const { kernel } = test;
  const calls = { veto: 0, mutator: 0 };
  let behaviour = veto;
  const contribution = { family: 'egress.preparing', extensionId: 'acme' } as const;
  const registration = openKernel(kernel).contribute({
    ...contribution,
    class: 'veto',
    id: 'gate',
    priority: 10,
    ...options,
    handler: () => {
      calls.veto++;
      return behaviour();
    },
  });
  return {
    ...test,
    calls,
    registration,
    behave: (next: Veto) => {
      behaviour = next;
    },
    dispatch: () => kernel.dispatch('egress.preparing', egress()),
    async fail(times: number) {
      for (let i = 0; i < times; i++) await kernel.dispatch('egress.preparing', egress());
    },
  };
}

const throws: Veto = () => {
  throw new Error('no database');
};

describe('fault 12: a handler that fails every time (§12.6)', () => {
  it('is in quarantine after its failures, and is not called', async () => {
    const { kernel, calls, fail, log } = lab(throws);
    await fail(5);
    expect(calls.veto).toBe(3);
    expect(kernel.stats()).toMatchObject({
      quarantines: 1,
      quarantined: [
        {
          extensionId: 'acme',
          contributionId: 'gate',
          state: 'quarantined',
          lastFailure: 'no database',
        },
      ],
    });
    expect(kernel.plan('egress.preparing')).toMatchObject([{ quarantined: true }]);
    expect(
      log.messages('warn').filter((line) => line.includes('is in quarantine for 5000 ms')),
    ).toHaveLength(1);
  });

  it('is a failure of kind quarantined each time where it is a veto: open, and said so', async () => {
    const { fail, dispatch } = lab(throws);
    await fail(3);
    const outcome = await dispatch();
    expect(outcome.status).toBe('passed');
    expect(outcome.failures).toMatchObject([
      { kind: 'quarantined', policy: 'open', contributionId: 'gate' },
    ]);
  });

  it('never silently allows where it is a fail-closed veto', async () => {
    const { fail, dispatch, calls } = lab(throws, { failClosed: true });
    await fail(3);
    const outcome = await dispatch();
    expect(calls.veto).toBe(3);
    expect(outcome.status).toBe('failed');
    expect(outcome.failures).toMatchObject([{ kind: 'quarantined', policy: 'closed' }]);
  });

  it('is skipped without a failure where it only changes or watches', async () => {
    const { kernel } = createTestKernel({ quarantine });
    kernel.contribute({
      family: 'egress.preparing',
      class: 'mutator',
      extensionId: 'acme',
      id: 'sign',
      handler: throws as never,
    });
    for (let i = 0; i < 3; i++) await kernel.dispatch('egress.preparing', egress());
    const outcome = await kernel.dispatch('egress.preparing', egress());
    expect(outcome.failures).toEqual([]);
    expect(outcome.skipped).toEqual([
      { extensionId: 'acme', contributionId: 'sign', why: 'quarantined' },
    ]);
  });

  it('gets one trial after its cool-down, and goes back where it fails', async () => {
    const { clock, fail, calls, kernel } = lab(throws);
    await fail(3);
    await clock.advance(quarantine.coolDownMs);
    await fail(4);
    expect(calls.veto).toBe(4);
    expect(kernel.stats()).toMatchObject({ quarantines: 2, trials: 1 });
  });

  it('gets another trial where the first was aborted and told nothing', async () => {
    const { clock, kernel, behave, fail, dispatch } = lab(throws, { failClosed: true });
    await fail(3);
    behave(() => new Promise<never>(() => undefined) as never); // it never settles
    await clock.advance(quarantine.coolDownMs);
    const controller = new AbortController();
    const { signal } = controller;
    const trial = kernel.dispatch('egress.preparing', egress(), { signal });
    controller.abort();
    expect((await trial).status).not.toBe('passed');
    behave(() => allow());
    expect((await dispatch()).failures).toMatchObject([{ kind: 'quarantined' }]);
    await clock.advance(quarantine.coolDownMs);
    expect((await dispatch()).status).toBe('passed');
    expect(kernel.stats()).toMatchObject({ quarantines: 1, trials: 2, quarantined: [] });
  });

  it('is in no quarantine once it was withdrawn, whatever it still does', async () => {
    const { clock, kernel, registration, dispatch } = lab(
      () => new Promise<never>(() => undefined) as never,
    );
    const pending = [dispatch(), dispatch(), dispatch()];
    registration[Symbol.dispose]();
    await clock.advance(60_000);
    for (const outcome of await Promise.all(pending))
      expect(outcome.failures).toMatchObject([{ kind: 'timed-out' }]);
    expect(kernel.stats()).toMatchObject({ quarantines: 0, quarantined: [] });
  });

  it('is back after a trial that went well, and judges again in that very dispatch', async () => {
    const { clock, fail, dispatch, behave, kernel, calls } = lab(throws);
    kernel.contribute({
      family: 'egress.preparing',
      class: 'mutator',
      extensionId: 'acme',
      id: 'sign',
      handler: ({ payload }) => ({ content: `${payload.content}!` }),
    });
    await fail(3);
    behave(() => allow());
    await clock.advance(quarantine.coolDownMs);
    expect((await dispatch()).failures).toEqual([]);
    expect(calls.veto).toBe(5); // it allowed, and judged the signed text
    expect(kernel.stats().quarantined).toEqual([]);
    behave(() => cancel('policy'));
    expect((await dispatch()).status).toBe('cancelled');
  });

  it('lets one dispatch through while it is on trial, however long that takes', async () => {
    const { clock, fail, dispatch, behave, calls } = lab(throws, { failClosed: true });
    await fail(3);
    let settle: (verdict: ReturnType<typeof allow>) => void = () => undefined;
    behave(() => new Promise((resolve) => (settle = resolve)));
    await clock.advance(quarantine.coolDownMs);
    const trial = dispatch();
    const other = await dispatch();
    expect(other.failures).toMatchObject([{ kind: 'quarantined' }]);
    settle(allow());
    expect((await trial).status).toBe('passed');
    behave(() => allow());
    expect((await dispatch()).status).toBe('passed');
    expect(calls.veto).toBe(5);
  });

  it('is on probation after its trial: one more failure, and it is back', async () => {
    const { clock, fail, behave, kernel } = lab(throws);
    await fail(3);
    behave(() => allow());
    await clock.advance(quarantine.coolDownMs);
    await fail(1);
    behave(() => ({ kind: 'nonsense' }) as never); // bad output
    await fail(1);
    expect(kernel.stats().quarantines).toBe(2);
  });

  it('is not put there by failures that lie further apart than the window', async () => {
    const { clock, fail, kernel } = lab(throws);
    for (let i = 0; i < 9; i++) {
      await fail(1);
      await clock.advance(quarantine.windowMs / 2 + 1);
    }
    expect(kernel.stats().quarantines).toBe(0);
  });

  it('is forgotten when it is withdrawn: its successor starts afresh, and no timer stays', async () => {
    const { clock, fail, registration, kernel } = lab(throws);
    await fail(3);
    registration[Symbol.dispose]();
    expect(kernel.stats().quarantined).toEqual([]);
    await clock.advance(quarantine.coolDownMs);
    expect(kernel.stats()).toMatchObject({ trials: 0, quarantined: [] });
  });

  it('costs nothing where it is off: the plan is built once', async () => {
    const { kernel } = createTestKernel();
    kernel.contribute({
      family: 'egress.preparing',
      class: 'veto',
      extensionId: 'acme',
      id: 'gate',
      handler: throws,
    });
    for (let i = 0; i < 20; i++) await kernel.dispatch('egress.preparing', egress());
    expect(kernel.stats()).toMatchObject({ plansBuilt: 1, quarantines: 0 });
  });

  it('is also there for failures that come outside of any dispatch', async () => {
    const { kernel, calls, fail } = lab(() => allow());
    for (let i = 0; i < 3; i++)
      kernel.blame({ extensionId: 'acme', contributionId: 'gate' }, 'a stray rejection');
    await fail(1);
    expect(calls.veto).toBe(0);
    expect(kernel.stats()).toMatchObject({ stray: 3, quarantines: 1 });
  });

  it('needs numbers that can be used', () => {
    expect(() => createTestKernel({ quarantine: { failures: 0 } })).toThrow(
      expect.objectContaining({ code: 'bad-option' }),
    );
  });
});
