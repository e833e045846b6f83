import { describe, expect, it } from 'vitest';
import type { Outcome, SluiceError } from '../../../src/kernel/internal.js';
import {
  contributor,
  createLab,
  deferred,
  type LabCall,
  type LabOwn,
} from '../../support/kernel-lab.js';
import { labSample } from '../../support/kernel-stages.js';

describe('a dispatch from inside a handler', () => {
  it('takes refs, ids, correlation and the source along (§10.5)', async () => {
    const { kernel } = createLab();
    let inner: Outcome | undefined;
    contributor(kernel, 'lab.sequential')('observer', 'a', async (call, own) => {
      inner = await own.dispatch(call, 'lab.parallel', labSample());
    });
    const given = { agentId: 'agent', threadRef: { channel: 'c', id: 't' }, metadata: { own: 1 } };
    const outer = await kernel.dispatch('lab.sequential', labSample(), given);
    expect(inner?.event).toMatchObject({
      agentId: 'agent',
      threadRef: { channel: 'c', id: 't' },
      correlationId: outer.event.eventId,
      sourceContributionId: 'x/a',
      metadata: {},
    });
    expect(inner?.event.eventId).not.toBe(outer.event.eventId);
    expect((inner?.event.eventId ?? '') > outer.event.eventId).toBe(true);
  });

  it('gives a sync-sequential family’s outcome at once (§10.5)', () => {
    const { kernel } = createLab();
    let status = '';
    contributor(kernel, 'lab.sync')('observer', 'a', (call, own) => {
      if (call.event['sourceContributionId'] !== null) return;
      const outcome = own.dispatch(call, 'lab.sync', labSample());
      status = outcome instanceof Promise ? 'a promise' : outcome.status;
    });
    kernel.dispatchSync('lab.sync', labSample());
    expect(status).toBe('passed');
  });

  it.each([8, 3])(
    'goes %i deep, and deeper is a failure and no deadlock (§10.5)',
    async (depth) => {
      const { kernel } = createLab({ limits: { depth } });
      const correlations = new Set<unknown>();
      const outcomes: Outcome[] = [];
      let calls = 0;
      contributor(kernel, 'lab.sequential')('observer', 'a', async (call, own) => {
        calls++;
        correlations.add(call.event['correlationId']);
        outcomes.push(await own.dispatch(call, 'lab.sequential', labSample()));
      });
      const outer = await kernel.dispatch('lab.sequential', labSample());
      expect([outer.status, calls, correlations.size]).toEqual(['passed', depth + 1, 1]);
      const [deepest, ...others] = outcomes;
      expect(deepest?.status).toBe('failed');
      expect(deepest?.failures.map(({ kind, policy }) => [kind, policy])).toEqual([
        ['too-deep', 'closed'],
      ]);
      expect(deepest?.skipped).toEqual([
        { extensionId: 'x', contributionId: 'a', why: 'after-failure' },
      ]);
      expect(others.every(({ status }) => status === 'passed')).toBe(true);
    },
  );

  it('is too deep also in the caller’s stack (§10.5)', () => {
    const { kernel } = createLab();
    const statuses: string[] = [];
    contributor(kernel, 'lab.sync')('observer', 'a', (call, own) => {
      const inner = own.dispatch(call, 'lab.sync', labSample());
      if (!(inner instanceof Promise)) statuses.push(inner.status);
    });
    kernel.dispatchSync('lab.sync', labSample());
    expect(statuses).toEqual(['failed', ...Array.from({ length: 8 }, () => 'passed')]);
  });

  it('throws once its stage has ended (§10.5)', async () => {
    const { kernel } = createLab();
    const kept: { call?: LabCall; own?: LabOwn } = {};
    contributor(kernel, 'lab.sync')('observer', 'a', (call, own) => {
      Object.assign(kept, { call, own });
    });
    kernel.dispatchSync('lab.sync', labSample());
    const { call, own } = kept;
    if (call === undefined || own === undefined) throw new Error('it was not called');
    expect(() => own.dispatch(call, 'lab.sync', labSample())).toThrow(
      expect.objectContaining({ code: 'call-inactive' }),
    );
    expect(call.payload).toEqual(labSample());
  });

  it('throws once its handler was given up, while the stage goes on (§10.5)', async () => {
    const { kernel, clock } = createLab();
    const first = deferred();
    const second = deferred();
    let code: unknown;
    const add = contributor(kernel, 'lab.sequential');
    add('observer', 'a', async (call, own) => {
      await first.promise;
      try {
        await own.dispatch(call, 'lab.sibling', labSample());
      } catch (thrown) {
        code = (thrown as { code?: unknown }).code;
      }
    });
    add('observer', 'b', () => second.promise);
    const running = kernel.dispatch('lab.sequential', labSample());
    await clock.advance(400);
    first.resolve();
    await clock.advance(0);
    expect(code).toBe('call-inactive');
    second.resolve();
    expect((await running).failures.map(({ kind }) => kind)).toEqual(['timed-out']);
  });

  it('works for a handler that has returned, also if a later one was given up (§10.5)', async () => {
    const { kernel, clock } = createLab();
    const add = contributor(kernel, 'lab.sequential');
    const calls = new Map<string, readonly [LabCall, LabOwn]>();
    const told: string[] = [];
    add('observer', 'a', (call, own) => void calls.set('returned', [call, own]));
    add('observer', 'b', (call, own) => {
      calls.set('given up', [call, own]);
      return new Promise(() => undefined);
    });
    add('observer', 'c', async () => {
      for (const [name, [call, own]] of calls)
        try {
          const { status } = await own.dispatch(call, 'lab.sibling', labSample());
          told.push(`${name}: ${status}`);
        } catch (error) {
          told.push(`${name}: ${(error as SluiceError).code}`); // what it throws for such a call
        }
    });
    const running = kernel.dispatch('lab.sequential', labSample());
    await clock.advance(400);
    await running;
    expect(told).toEqual(['returned: passed', 'given up: call-inactive']);
  });

  it('throws for a call that is not one (§10.5)', () => {
    const { kernel } = createLab();
    contributor(kernel, 'lab.sync')(
      'observer',
      'a',
      (call, own) => void own.dispatch({ ...call } as LabCall, 'lab.sync', labSample()),
    );
    const [failure] = kernel.dispatchSync('lab.sync', labSample()).failures;
    expect(failure?.error).toMatchObject({ code: 'foreign-call' });
  });

  it('of an unknown family is that handler’s failure, with the nearest name (§3.1)', () => {
    const { kernel } = createLab();
    contributor(kernel, 'lab.sync')(
      'observer',
      'a',
      (call, own) => void own.dispatch(call, 'lab.snyc', labSample()),
    );
    const [failure] = kernel.dispatchSync('lab.sync', labSample()).failures;
    expect(failure?.message).toMatch(/lab\.sync/);
  });
});
