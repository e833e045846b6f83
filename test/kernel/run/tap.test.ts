import { describe, expect, it } from 'vitest';
import type { Failure, Outcome } from '../../../src/kernel/internal.js';
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

describe('a tap that comes later (§12.2)', () => {
  it('hears beside the tap of the options, until it is disposed', async () => {
    const heard: string[] = [];
    const { kernel } = createLab({ tap: { outcome: () => void heard.push('of the options') } });
    const added = kernel.tap({ outcome: ({ event }) => void heard.push(event.family) });
    await kernel.dispatch('lab.sequential', labSample());
    added[Symbol.dispose]();
    added[Symbol.dispose](); // a second time is no harm
    await kernel.dispatch('lab.sequential', labSample());
    expect(heard).toEqual(['of the options', 'lab.sequential', 'of the options']);
  });

  it('costs nothing while there is none: a dispatch that nobody hears freezes nothing and makes no envelope (§1.5)', async () => {
    const { kernel } = createLab();
    const cost = async (): Promise<readonly number[]> => {
      const before = kernel.stats();
      await kernel.dispatch('lab.sequential', labSample());
      const { payloadsFrozen, envelopesMade } = kernel.stats();
      return [payloadsFrozen - before.payloadsFrozen, envelopesMade - before.envelopesMade];
    };
    expect(await cost()).toEqual([0, 0]);
    const watching = kernel.tap({ outcome: ({ event }) => void event });
    expect(await cost()).toEqual([1, 1]);
    watching[Symbol.dispose]();
    expect(await cost()).toEqual([0, 0]);
    using _failures = kernel.tap({ failure: () => undefined });
    expect(await cost()).toEqual([0, 0]); // nothing has failed
  });

  it('that throws or rejects is logged with its extension, and the next one hears all the same', async () => {
    const logger = collectingLogger();
    const { kernel } = createLab({ logger });
    const heard: string[] = [];
    const boom = new Error('tap');
    kernel.tap(
      {
        outcome: () => {
          throw boom;
        },
      },
      { extensionId: 'acme' },
    );
    kernel.tap({ outcome: () => Promise.reject(boom) as never }, { extensionId: 'other' });
    kernel.tap({ outcome: ({ status }) => void heard.push(status) });
    expect((await kernel.dispatch('lab.sequential', labSample())).status).toBe('passed');
    await Promise.resolve();
    expect(heard).toEqual(['passed']);
    const errors = logger.entries.filter(({ level }) => level === 'error');
    expect(errors.map(({ message, fields }) => [message, fields])).toEqual([
      ['tap.outcome failed', { extensionId: 'acme', error: boom }],
      ['tap.outcome failed', { extensionId: 'other', error: boom }],
    ]);
  });
});
