import { describe, expect, it } from 'vitest';
import { createTestKernel, samplePayload } from '../../../src/testing/index.js';

/** A promise that a test settles. */
function later() {
  let settle: () => void = () => undefined;
  const promise = new Promise<undefined>((resolve) => {
    settle = () => resolve(undefined);
  });
  return { promise, settle };
}

const egress = () => ({ ...samplePayload('egress.preparing'), explicit: true });

describe('kernel.running and kernel.quiet (§10.8)', () => {
  it('name the handlers that have not settled, in sequence and side by side', async () => {
    const { kernel } = createTestKernel();
    const { promise, settle } = later();
    const handler = () => promise;
    kernel.contribute({
      family: 'egress.preparing',
      class: 'mutator',
      extensionId: 'acme',
      id: 'slow',
      handler,
    });
    for (const id of ['a', 'b'])
      kernel.contribute({
        family: 'runtime.started',
        class: 'observer',
        extensionId: 'acme',
        id,
        handler,
      });
    const dispatched = [
      kernel.dispatch('egress.preparing', egress()),
      kernel.dispatch('runtime.started', samplePayload('runtime.started')),
    ];
    expect(
      kernel.running().map(({ contributionId, family }) => `${contributionId} ${family}`),
    ).toEqual(
      expect.arrayContaining(['slow egress.preparing', 'a runtime.started', 'b runtime.started']),
    );
    const quiet = kernel.quiet('acme');
    settle();
    await Promise.all(dispatched);
    expect(await quiet).toEqual([]);
    expect(kernel.running()).toEqual([]);
  });

  it('do not wait for what other extensions do', async () => {
    const { kernel } = createTestKernel();
    const first = later();
    const second = later();
    for (const [extensionId, { promise }] of [
      ['a', first],
      ['b', second],
    ] as const)
      kernel.contribute({
        family: 'egress.preparing',
        class: 'mutator',
        extensionId,
        id: 'slow',
        handler: () => promise,
      });
    void kernel.dispatch('egress.preparing', egress());
    expect(await kernel.quiet('b')).toEqual([]);
    const quiet = kernel.quiet('a');
    first.settle();
    expect(await quiet).toEqual([]);
    expect(kernel.running()).toMatchObject([{ extensionId: 'b' }]);
    second.settle();
  });

  it('give up after a while, and say who runs on, those that were given up before among them', async () => {
    const { kernel, clock } = createTestKernel();
    kernel.contribute({
      family: 'egress.preparing',
      class: 'mutator',
      extensionId: 'acme',
      id: 'hangs',
      timeoutMs: 1_000,
      handler: () => new Promise<undefined>(() => undefined),
    });
    const dispatched = kernel.dispatch('egress.preparing', egress());
    const quiet = kernel.quiet('acme', { timeoutMs: 500 });
    await clock.advance(500);
    const hangs = { extensionId: 'acme', contributionId: 'hangs', family: 'egress.preparing' };
    expect(await quiet).toEqual([{ ...hangs, runningMs: 500, isGivenUp: false }]);
    await clock.advance(500);
    await dispatched;
    expect(kernel.running()).toEqual([{ ...hangs, runningMs: 0, isGivenUp: true }]);
  });
});
