import { describe, expect, it } from 'vitest';
import type { Outcome } from '../../src/kernel/internal.js';
import { allow, createKernel, longestTimerMs } from '../../src/kernel/internal.js';
import { contributor, createLab, deferred } from '../support/kernel-lab.js';
import { labSample } from '../support/kernel-stages.js';

const never = (): Promise<never> => new Promise(() => undefined);

describe('what went wrong once', () => {
  it('a chain of 20,000 dispatches overflowed the stack when its last event was read (§1.8)', () => {
    const { kernel } = createLab({ trace: false });
    let last: Outcome | undefined;
    for (let i = 0; i < 20_000; i++)
      last = kernel.dispatchSync('lab.sync', labSample(), {
        sessionId: i === 0 ? 'first' : undefined,
        ...(last !== undefined && { after: last }),
      } as object);
    expect(last?.event.sessionId).toBe('first');
    expect(last?.event.correlationId).not.toBe(last?.event.eventId);
  });

  it('a budget of 30 days set a timer that the platform fires at once (§10.1)', async () => {
    const { kernel, clock } = createLab();
    const delays: number[] = [];
    const { setTimeout: real } = clock;
    clock.setTimeout = (callback, delayMs) => {
      delays.push(delayMs);
      return real.call(clock, callback, delayMs);
    };
    contributor(kernel, 'lab.sequential')('observer', 'a', never, { timeoutMs: 30 * 86_400_000 });
    void kernel.dispatch('lab.sequential', labSample());
    await clock.advance(0);
    expect(delays.length).toBeGreaterThan(0);
    expect(Math.max(...delays)).toBeLessThanOrEqual(longestTimerMs);
  });

  it('a close from inside a handler said drained, and ended the budgets of the rest (§10.7)', async () => {
    const { kernel, clock } = createLab();
    const add = contributor(kernel, 'lab.sequential');
    let report: unknown;
    add('observer', 'a', () => {
      void kernel.close({ timeoutMs: 60_000 }).then((value) => {
        report = value;
      });
    });
    add('observer', 'b', never, { timeoutMs: 50 });
    const ended = kernel.dispatch('lab.sequential', labSample());
    await clock.advance(49);
    expect(report).toBeUndefined();
    await clock.advance(10);
    expect((await ended).failures.map(({ kind }) => kind)).toEqual(['timed-out']);
    await clock.advance(0);
    expect(report).toEqual({ drained: true, abandoned: [] });
  });

  it('of two closes at once, the first waited out its whole time (§10.7)', async () => {
    const { kernel, clock } = createLab();
    const gate = deferred();
    contributor(kernel, 'lab.sequential')('observer', 'a', () => gate.promise);
    void kernel.dispatch('lab.sequential', labSample());
    const closes = [kernel.close(), kernel.close()];
    gate.resolve(undefined);
    await clock.advance(0);
    expect(await Promise.all(closes)).toEqual([
      { drained: true, abandoned: [] },
      { drained: true, abandoned: [] },
    ]);
  });

  it('a detached observer was aborted when the time of the handler after it was up (§10.4)', async () => {
    const { kernel, clock } = createLab();
    const add = contributor(kernel, 'lab.sequential');
    let signal: AbortSignal | undefined;
    add(
      'observer',
      'a',
      (call) => {
        signal = call.signal;
        return never();
      },
      { detached: true },
    );
    add('observer', 'b', never, { timeoutMs: 30 });
    const ended = kernel.dispatch('lab.sequential', labSample());
    await clock.advance(31);
    await ended;
    expect(signal?.aborted).toBe(false);
  });

  it('a logger that throws made a dispatch reject, or never settle (§12.2)', async () => {
    const fail = (): never => {
      throw new Error('the disk is full');
    };
    const logger = { debug: fail, info: fail, warn: fail, error: fail };
    const { kernel } = createLab({ logger });
    contributor(kernel, 'lab.sequential')('observer', 'a', () => Promise.reject(new Error('x')));
    const outcome = await kernel.dispatch('lab.sequential', labSample());
    expect(outcome.failures).toHaveLength(1);
  });

  it('a tap that rejects was an unhandled rejection (§12.2)', async () => {
    const heard: string[] = [];
    const { kernel } = createLab({
      tap: {
        outcome: async () => {
          heard.push('outcome');
          throw new Error('the collector is gone');
        },
      },
    });
    await kernel.dispatch('lab.sequential', labSample());
    expect(heard).toEqual(['outcome']); // vitest fails the run on an unhandled rejection
  });

  it('a host’s predicate that answered nothing took every candidate (§9.2)', async () => {
    const { kernel } = createLab();
    contributor(kernel, 'lab.sequential')('resolver', 'a', () => ({
      kind: 'select',
      target: { to: 'a' },
      explicit: false,
      rank: 0,
    }));
    const outcome = await kernel.dispatch('lab.sequential', labSample(), {
      valid: () => undefined as unknown as true,
    });
    expect(outcome.selection).toBeUndefined();
    expect(outcome.candidates[0]?.invalid).toBe('the host does not take it');
  });

  it('a dispatch aborted by its last handler was said to lack a candidate (§10.6)', async () => {
    const { kernel } = createLab();
    const controller = new AbortController();
    contributor(kernel, 'lab.sequential')('veto', 'a', () => {
      controller.abort();
      return allow();
    });
    const { signal } = controller;
    const outcome = await kernel.dispatch('lab.sequential', labSample(), { signal });
    expect(outcome.failures.map(({ kind }) => kind)).toEqual(['aborted']);
  });

  it('what is behind a kernel could be reached and written by whoever held it', () => {
    const kernel = createKernel();
    expect(Object.keys(kernel).sort()).toEqual(
      [
        'blame',
        'close',
        'contribute',
        'dispatch',
        'dispatchSync',
        'grant',
        'has',
        'isAudited',
        'may',
        'parsePayload',
        'plan',
        'quiet',
        'running',
        'stages',
        'stats',
        'tap',
      ].sort(),
    );
    expect(Object.isFrozen(kernel)).toBe(true);
  });
});
