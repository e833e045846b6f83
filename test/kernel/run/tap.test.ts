import { describe, expect, it } from 'vitest';
import type { Failure, Outcome } from '../../../src/kernel/index.js';
import { collectingLogger } from '../../../src/testing/collecting-logger.js';
import { byName, contributor, createLab, deferred } from '../../support/kernel-lab.js';
import { labSample } from '../../support/kernel-stages.js';

describe('the tap', () => {
  it('hears outcomes, failures and late results (§12.2)', async () => {
    const heard: string[] = [];
    const { kernel, clock } = createLab({
      tap: {
        outcome: (outcome: Outcome) => heard.push(`outcome ${outcome.status}`),
        failure: (failure: Failure) => heard.push(`failure ${failure.kind}`),
        late: (late) => heard.push(`late ${late.settled}`),
      },
    });
    const gate = deferred();
    contributor(kernel, 'lab.sequential')('observer', 'a', () => gate.promise);
    const running = kernel.dispatch('lab.sequential', labSample());
    await clock.advance(400);
    await running;
    gate.resolve();
    await clock.advance(0);
    expect(heard).toEqual(['failure timed-out', 'outcome passed', 'late fulfilled']);
  });

  it('hears of dispatches without handlers, and their payload is frozen then (§1.5, §12.2)', () => {
    const outcomes: Outcome[] = [];
    const { kernel } = createLab({ tap: { outcome: (one) => outcomes.push(one) } });
    const payload = labSample();
    const outcome = kernel.dispatchSync('lab.sync', payload);
    expect(outcomes).toEqual([outcome]);
    expect(Object.isFrozen(payload)).toBe(true);
  });

  it('that throws is logged and changes nothing (§12.2)', async () => {
    const logger = collectingLogger();
    const boom = (): never => {
      throw new Error('tap');
    };
    const { kernel, clock } = createLab({
      logger,
      tap: { outcome: boom, failure: boom, late: boom },
    });
    const gate = deferred();
    const add = contributor(kernel, 'lab.sequential');
    add('observer', 'a', () => gate.promise);
    add('mutator', 'b', () => ({ title: 'new' }));
    const running = kernel.dispatch('lab.sequential', labSample());
    await clock.advance(400);
    const outcome = await running;
    gate.reject(new Error('late'));
    await clock.advance(0);
    expect([outcome.status, outcome.payload]).toEqual(['passed', { title: 'new' }]);
    expect(logger.messages('error')).toHaveLength(3);
  });

  it('hears of a detached observer’s rejection, which the outcome cannot show (§4.7)', async () => {
    const heard: string[] = [];
    const logger = collectingLogger();
    for (const family of ['lab.parallel', 'lab.sequential']) {
      const { kernel, clock } = createLab({
        logger,
        tap: { failure: (one) => heard.push(`${byName(one)} ${one.kind} ${one.message}`) },
      });
      const gate = deferred();
      const options = { detached: true };
      contributor(kernel, family)('observer', 'a', () => gate.promise, options);
      const outcome = await kernel.dispatch(family, labSample());
      expect([outcome.status, kernel.stats().waiting]).toEqual(['passed', 0]);
      gate.reject(new Error('later'));
      await clock.advance(0);
      expect(outcome.failures).toEqual([]);
      expect(kernel.stats().failedOpen).toBe(1);
    }
    expect(heard).toEqual(['x/a threw later', 'x/a threw later']);
    expect(logger.messages('warn')).toHaveLength(2);
  });

  it('what a detached observer throws at once is in the outcome (§4.7)', async () => {
    const { kernel } = createLab();
    const options = { detached: true };
    contributor(kernel, 'lab.sequential')(
      'observer',
      'a',
      () => {
        throw new Error('at once');
      },
      options,
    );
    const outcome = await kernel.dispatch('lab.sequential', labSample());
    expect(outcome.failures.map(({ message }) => message)).toEqual(['at once']);
  });
});
