import { describe, expect, it } from 'vitest';
import { isSluiceError } from '../../../src/kernel/internal.js';
import { createLab } from '../../support/kernel-lab.js';
import { labSample } from '../../support/kernel-stages.js';

describe('a payload', () => {
  it('freezes in place with handlers, and stays open without handler and tap (§1.5)', () => {
    const { kernel } = createLab();
    const alone = labSample({ body: { lines: [] } });
    kernel.dispatchSync('lab.sync', alone);
    expect(Object.isFrozen(alone)).toBe(false);
    kernel.contribute({
      family: 'lab.sync',
      class: 'observer',
      extensionId: 'x',
      id: 'o',
      handler: () => undefined,
    });
    const body = { lines: [] };
    const outcome = kernel.dispatchSync('lab.sync', labSample({ body }));
    expect(outcome.event.payload).toBe(outcome.payload);
    expect([outcome.payload, body, body.lines].every(Object.isFrozen)).toBe(true);
  });

  it('passes its shared fields by reference, open (§1.7)', () => {
    const { kernel } = createLab();
    const raw = { update: new Map() };
    let seen: unknown;
    kernel.contribute({
      family: 'lab.sync',
      class: 'observer',
      extensionId: 'x',
      id: 'o',
      handler: ({ payload }) => {
        seen = payload['raw'];
      },
    });
    kernel.dispatchSync('lab.sync', labSample({ raw }));
    expect(seen).toBe(raw);
    expect(Object.isFrozen(raw)).toBe(false);
  });

  it.each([
    ['a Date', { body: new Date(0) }, '/body'],
    ['a function', { body: { lines: [() => 1] } }, '/body/lines/0'],
  ])('with %s is refused, with the path and what to send instead (§1.6)', async (_, over, path) => {
    const { kernel } = createLab();
    for (const family of ['lab.sync', 'lab.sequential'])
      kernel.contribute({
        family,
        class: 'observer',
        extensionId: 'x',
        id: family,
        handler: () => undefined,
      });
    const thrown = await kernel
      .dispatch('lab.sequential', labSample(over))
      .catch((e: unknown) => e);
    if (!isSluiceError(thrown)) throw new Error('it was not refused');
    expect(thrown.code).toBe('unfreezable-payload');
    expect(thrown.message).toContain(path);
    expect(thrown.hint).toMatch(/plain data/);
    expect(() => kernel.dispatchSync('lab.sync', labSample(over))).toThrow(
      expect.objectContaining({ code: 'unfreezable-payload' }),
    );
  });

  it.each([
    ['null', null],
    ['a text', 'text'],
    ['a number', 5],
    ['undefined', undefined],
  ])('that is %s is misuse, told by a typed error (§5.2)', (_, value) => {
    const { kernel } = createLab();
    kernel.contribute({
      family: 'lab.sync',
      class: 'observer',
      extensionId: 'x',
      id: 'o',
      handler: () => undefined,
    });
    const payload = value as unknown as object; // what a caller without types can do
    expect(() => kernel.dispatchSync('lab.sync', payload)).toThrow(
      expect.objectContaining({ name: 'SluiceError' }),
    );
  });
});
