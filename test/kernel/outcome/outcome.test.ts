import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { allow, cancel, createKernel, openKernel, select } from '../../../src/kernel/internal.js';
import { collectingLogger } from '../../../src/testing/collecting-logger.js';
import { byName, contributor, createLab, type LabHandler } from '../../support/kernel-lab.js';
import { labSample, labStages } from '../../support/kernel-stages.js';

describe('an outcome', () => {
  it('has a cancel only where it is cancelled, a selection only where one was made (§5.2)', () => {
    const { kernel } = createLab();
    const passed = kernel.dispatchSync('lab.sync', labSample());
    expect([passed.status, passed.selection, 'cancel' in passed.toJSON()]).toEqual([
      'passed',
      undefined,
      false,
    ]);
    contributor(kernel, 'lab.sync')('veto', 'v', () => cancel('policy', { details: { n: 1 } }));
    const cancelled = kernel.dispatchSync('lab.sync', labSample());
    expect(cancelled.status === 'cancelled' && cancelled.cancel).toEqual({
      extensionId: 'x',
      contributionId: 'v',
      code: 'policy',
      details: { n: 1 },
    });
  });

  it.each([
    ['that a tap hears', () => createLab().kernel],
    ['that nobody hears', () => openKernel(createKernel({ stages: labStages }))],
  ])('%s shows its fields in a console and in a failed comparison (§5.2)', (_, makeKernel) => {
    const kernel = makeKernel();
    const outcome = kernel.dispatchSync('lab.sync', labSample());
    expect(outcome).toMatchObject({ status: 'passed' });
    expect(inspect(outcome)).toContain("status: 'passed'");
    const compare = (): void => expect(outcome).toMatchObject({ status: 'cancelled' });
    expect(compare).toThrow('to match object');
  });

  it('as JSON has everything, and no error objects (§5.2)', () => {
    const { kernel } = createLab({ trace: true, ids: () => 'id' });
    const add = contributor(kernel, 'lab.sync');
    add('mutator', 'a', () => ({ title: 'new' }), { priority: 3 });
    add('observer', 'b', () => {
      throw new Error('boom');
    });
    add('resolver', 'c', () => select({ to: 'a' }));
    add('veto', 'd', () => allow());
    const json = JSON.parse(JSON.stringify(kernel.dispatchSync('lab.sync', labSample()))) as object;
    expect(json).toMatchObject({
      status: 'passed',
      event: { eventId: 'id', payload: { title: 'hello' } },
      payload: { title: 'new' },
      annotations: {},
      selection: { target: { to: 'a' }, extensionId: 'x', contributionId: 'c' },
      candidates: [{ contributionId: 'c' }],
      changes: [{ path: 'title', contributionId: 'a' }],
      staleApprovals: [],
      skipped: [],
      failures: [{ contributionId: 'b', kind: 'threw', message: 'boom', policy: 'open' }],
      steps: [{ contributionId: 'a' }, { contributionId: 'b' }, {}, {}],
    });
    expect(json).not.toHaveProperty('failures.0.error');
  });

  it('is the same whenever it is read (§5.5)', () => {
    const { kernel } = createLab();
    const add = contributor(kernel, 'lab.sync');
    add('mutator', 'a', () => ({ title: 'new' }));
    const outcome = kernel.dispatchSync('lab.sync', labSample());
    expect(outcome.changes).toBe(outcome.changes);
    expect(Object.isFrozen(outcome.changes)).toBe(true);
    const before = JSON.stringify(outcome);
    add('veto', 'z', () => cancel('policy'));
    expect(JSON.stringify(outcome)).toBe(before);
  });

  it('says who wrote before, where a patch no longer fits (§6.6)', () => {
    const { kernel } = createLab();
    const add = contributor(kernel, 'lab.sync');
    add('mutator', 'a', () => ({ capped: ['1', '2'] }));
    add('mutator', 'b', () => ({ capped: ['3'] }));
    const [failure] = kernel.dispatchSync('lab.sync', labSample()).failures;
    expect(failure && byName(failure)).toBe('x/b');
    expect(failure?.message).toContain('x/a');
  });

  it('is a rejection, or a throw, only for misuse (§5.1, §5.2)', async () => {
    const { kernel } = createLab();
    const wrongMode = expect.objectContaining({ code: 'wrong-mode' }) as object;
    await expect(kernel.dispatch('lab.sync', labSample())).rejects.toEqual(wrongMode);
    expect(() => kernel.dispatchSync('lab.parallel', labSample())).toThrow(wrongMode);
    await expect(kernel.dispatch('lab.nothing', labSample())).rejects.toMatchObject({
      code: 'unknown-family',
    });
  });

  it('of handlers that return at once is there in the tick of its promise (§5.1)', async () => {
    const { kernel } = createLab();
    contributor(kernel, 'lab.sequential')('mutator', 'a', () => ({ title: 'new' }));
    const order: string[] = [];
    const running = kernel
      .dispatch('lab.sequential', labSample())
      .then(() => order.push('outcome'));
    await Promise.resolve().then(() => order.push('one tick'));
    await running;
    expect(order).toEqual(['outcome', 'one tick']);
  });
});

const unreadable = {
  toString(): string {
    throw new Error('no');
  },
};
const { proxy: revoked, revoke } = Proxy.revocable({}, {});
revoke();

const thrownValues: readonly (readonly [string, unknown, RegExp])[] = [
  ['an error', new Error('boom'), /^boom$/],
  ['a typed error', new TypeError('boom'), /^TypeError: boom$/],
  ['a text', 'boom', /^boom$/],
  ['null', null, /^null$/],
  ['undefined', undefined, /^undefined$/],
  ['a symbol', Symbol('boom'), /boom/],
  ['an object that does not want to be read', unreadable, /cannot be read/],
  ['an object without a prototype', Object.create(null), /cannot be read/],
  [
    'an error whose message throws',
    Object.defineProperty(new Error('x'), 'message', {
      get: () => {
        throw new Error('no');
      },
    }),
    /cannot be read/,
  ],
  ['a text of many lines', 'a\n\r\u0007\u2028b\tc', /^a b c$/],
  ['a text without end', 'x'.repeat(100_000), /^x{299}…$/],
  ['a revoked proxy', revoked, /cannot be read/],
];

describe('a handler that throws', () => {
  it.each(thrownValues)('%s is a failure with one line of text (§5.3)', async (_, value, line) => {
    for (const family of ['lab.parallel', 'lab.sequential', 'lab.sync']) {
      const { kernel } = createLab();
      const add = contributor(kernel, family);
      let after = 0;
      const body: LabHandler = () => {
        throw value;
      };
      add('observer', 'a', body);
      add('observer', 'b', () => void after++);
      const outcome = await kernel.run(family, labSample());
      expect(outcome.failures).toMatchObject([{ kind: 'threw', policy: 'open' }]);
      expect(outcome.failures[0]?.message).toMatch(line);
      expect(outcome.failures[0]?.error).toBeInstanceOf(Error);
      expect(after).toBe(1);
    }
  });

  it('shows in outcome, counters, log and tap (§5.3)', () => {
    const logger = collectingLogger();
    const tapped: string[] = [];
    const { kernel } = createLab({
      logger,
      ids: () => 'id',
      tap: {
        failure: (failure, place) =>
          tapped.push(`${byName(failure)} ${failure.kind} ${place.family} ${place.eventId}`),
      },
    });
    contributor(kernel, 'lab.sync')('veto', 'a', () => 'odd', { failClosed: true });
    const outcome = kernel.dispatchSync('lab.sync', labSample());
    expect(outcome.failures).toHaveLength(1);
    expect(outcome.failures[0]?.message).toMatch(/veto/);
    expect(kernel.stats()).toMatchObject({ failedClosed: 1, failedOpen: 0, failed: 1 });
    expect(logger.messages('warn')).toEqual([expect.stringMatching(/lab.sync: x\/a bad-output/)]);
    expect(tapped).toEqual(['x/a bad-output lab.sync id']);
  });
});
