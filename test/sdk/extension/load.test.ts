import { describe, expect, it } from 'vitest';
import { cancel } from '../../../src/kernel/internal.js';
import { defineExtension, loadExtension } from '../../../src/sdk/extension/index.js';
import { createTestKernel, expectPassed, samplePayload } from '../../../src/testing/index.js';

const egress = () => ({ ...samplePayload('egress.preparing'), explicit: true });

/** A gate that a test opens. */
function gate() {
  let open: () => void = () => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}

describe('loadExtension (§13)', () => {
  it('makes what setup registered live together, when setup has ended', async () => {
    const { kernel } = createTestKernel();
    const { opened, open } = gate();
    const extension = defineExtension({
      id: 'acme',
      async setup(api) {
        api.mutate('egress.preparing', 'sign', ({ payload }) => ({
          content: `${payload.content}!`,
        }));
        await opened;
        api.observe('egress.sent', 'watch', () => undefined);
      },
    });
    const loading = loadExtension(kernel, extension);
    expect(kernel.stats().contributions).toBe(0);
    open();
    expect((await loading).status).toBe('loaded');
    expect(kernel.stats().contributions).toBe(2);
    const outcome = await kernel.dispatch('egress.preparing', { ...egress(), content: 'Hi' });
    expect(expectPassed(outcome).payload.content).toBe('Hi!');
  });

  it.each([
    [
      'throws',
      () => {
        throw new Error('no licence');
      },
    ],
    ['rejects', () => Promise.reject(new Error('no licence'))],
    ['rejects with what is no error', () => Promise.reject('no licence')],
  ])('disables an extension whose setup %s, and nothing of it stays', async (_, fail) => {
    const { kernel, log } = createTestKernel();
    let held = true;
    const extension = defineExtension({
      id: 'acme',
      setup(api) {
        api.observe('egress.sent', 'watch', () => undefined);
        api.own('server', () => {
          held = false;
        });
        return fail();
      },
    });
    const result = await loadExtension(kernel, extension, { logger: log });
    expect(result).toMatchObject({
      status: 'disabled',
      extensionId: 'acme',
      error: { code: 'setup-failed' },
    });
    expect(log.entries).toMatchObject([
      {
        level: 'error',
        message: 'disabled (setup-failed)',
        fields: { error: { message: expect.stringContaining('no licence') } },
      },
    ]);
    expect(kernel.stats().contributions).toBe(0);
    expect(held).toBe(false);
  });

  it('takes every contribution back if the kernel refuses one', async () => {
    const { kernel } = createTestKernel();
    const extension = defineExtension({
      id: 'acme',
      setup(api) {
        api.observe('egress.sent', 'watch', () => undefined);
        api.observe('egress.failed', 'watch', () => undefined);
      },
    });
    const result = await loadExtension(kernel, extension);
    expect(result).toMatchObject({ status: 'disabled', error: { code: 'duplicate-contribution' } });
    expect(kernel.stats().contributions).toBe(0);
  });

  it('loaded a second time is disabled, and the first stays as it is', async () => {
    const { kernel } = createTestKernel();
    const extension = defineExtension({
      id: 'acme',
      setup: (api) => api.observe('egress.sent', 'watch', () => undefined),
    });
    await loadExtension(kernel, extension);
    const again = await loadExtension(kernel, extension);
    expect(again).toMatchObject({ status: 'disabled', error: { code: 'duplicate-contribution' } });
    expect(kernel.plan('egress.sent')).toHaveLength(1);
  });

  it('disposes everything in reverse, handlers first and in one turn, and twice is harmless', async () => {
    const { kernel } = createTestKernel();
    const order: string[] = [];
    const extension = defineExtension({
      id: 'acme',
      setup(api) {
        api.own('database', async () => void order.push('database'));
        api.own('timer', () => order.push(`timer, ${kernel.stats().contributions} live`));
        api.observe('egress.sent', 'watch', () => undefined);
        api.veto('egress.preparing', 'stop', () => cancel('policy'));
      },
    });
    const loaded = await loadExtension(kernel, extension);
    if (loaded.status !== 'loaded') throw loaded.error;
    expect(loaded.labels()).toEqual([
      'database',
      'timer',
      'observer watch on egress.sent',
      'veto stop on egress.preparing',
    ]);
    const disposed = loaded.dispose();
    expect(kernel.stats().contributions).toBe(0);
    await disposed;
    await loaded[Symbol.asyncDispose]();
    expect(order).toEqual(['timer, 0 live', 'database']);
  });

  it('disables an extension whose setup does not end, and what it does later has no effect', async () => {
    const { kernel, clock, log } = createTestKernel();
    const { opened, open } = gate();
    let left = 1;
    const extension = defineExtension({
      id: 'slow',
      async setup(api) {
        await opened;
        api.own('late', () => left--);
      },
    });
    const loading = loadExtension(kernel, extension, { clock, logger: log, setupTimeoutMs: 100 });
    await clock.advance(100);
    expect(await loading).toMatchObject({
      status: 'disabled',
      error: { code: 'setup-timed-out', message: 'slow: setup had not ended after 100 ms.' },
    });
    open();
    await clock.advance(0);
    expect(left).toBe(0);
    expect(log.messages('warn')).toEqual([expect.stringContaining('after its time was up')]);
    expect(clock.pending).toBe(0);
  });

  it('takes nothing more from an extension whose setup failed', async () => {
    const { kernel } = createTestKernel();
    let late: () => void = () => undefined;
    const extension = defineExtension({
      id: 'acme',
      setup(api) {
        late = () => api.observe('egress.sent', 'watch', () => undefined);
        throw new Error('no licence');
      },
    });
    await loadExtension(kernel, extension);
    expect(late).toThrow(expect.objectContaining({ code: 'setup-ended' }));
  });

  it('gives setup a logger with its id and the clock of the host, and leaves no timer behind', async () => {
    const { kernel, clock, log } = createTestKernel();
    const extension = defineExtension({
      id: 'acme',
      setup(api) {
        for (const level of ['debug', 'info', 'warn', 'error'] as const)
          api.log[level](`at ${api.clock.monotonicMs()}`, { more: 1 });
      },
    });
    await loadExtension(kernel, extension, { clock, logger: log });
    expect(log.entries).toEqual(
      ['debug', 'info', 'warn', 'error'].map((level) => ({
        level,
        message: 'at 0',
        fields: { extensionId: 'acme', more: 1 },
      })),
    );
    expect(clock.pending).toBe(0);
  });

  it('reports resources of a failed setup that could not be undone', async () => {
    const extension = defineExtension({
      id: 'acme',
      setup(api) {
        api.own('server', () => {
          throw new Error('still busy');
        });
        throw new Error('no licence');
      },
    });
    expect(await loadExtension(createTestKernel().kernel, extension)).toMatchObject({
      error: { message: 'acme: setup failed: no licence' },
      undoFailures: [{ label: 'server', error: { message: 'still busy' } }],
    });
  });

  it.each([[undefined], [{}], [{ id: 'x', setup: 1 }]])(
    'disables %j, which is no extension',
    async (value) => {
      const { kernel } = createTestKernel();
      // as from JavaScript, which no type stops
      expect(await loadExtension(kernel, value as never)).toMatchObject({
        error: { code: 'bad-extension' },
      });
    },
  );
});
