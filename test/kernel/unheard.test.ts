import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import {
  createKernel,
  isBegunBy,
  isOutcome,
  type Outcome,
  openKernel,
} from '../../src/kernel/internal.js';
import { contributor, createLab, gist } from '../support/kernel-lab.js';
import { labSample, labStages } from '../support/kernel-stages.js';

const families = ['lab.sync', 'lab.sequential', 'lab.parallel'] as const;
const ref = (id: string) => ({ channel: 'lab', id });

/** The same dispatch, heard by an observer of the tap and by nobody. */
async function both(
  dispatch: (lab: ReturnType<typeof createLab>) => Promise<Outcome>,
): Promise<readonly [Outcome, Outcome]> {
  const ids = () => {
    let made = 0;
    return () => `id-${++made}`;
  };
  const heard = createLab({ ids: ids(), tap: { outcome: () => undefined } });
  const unheard = createLab({ ids: ids() });
  return [await dispatch(heard), await dispatch(unheard)];
}

describe('a dispatch that nobody hears', () => {
  it.each(families)(
    '%s: comes to what one comes to that a tap hears (§1.5, §5.2)',
    async (family) => {
      const given = {
        eventId: 'e',
        sessionId: 's',
        conversationRef: ref('c'),
        metadata: { a: 1 },
        providerMetadata: { b: 2 },
      };
      for (const one of [
        undefined,
        {},
        given,
        { correlationId: 'k' },
        { gate: 'observe-only' },
      ] as const) {
        const [heard, unheard] = await both(({ kernel }) => kernel.run(family, labSample(), one));
        expect(gist(unheard)).toEqual(gist(heard));
        expect(unheard.event).toEqual(heard.event);
        expect(unheard.toJSON()).toEqual(heard.toJSON());
        expect(Object.isFrozen(unheard.event)).toBe(true);
        expect(isOutcome(unheard)).toBe(true);
      }
    },
  );

  it('is of the kernel that it was begun with (§14.1)', () => {
    const kernel = openKernel(createKernel({ stages: labStages }));
    const outcome = kernel.dispatchSync('lab.sync', labSample());
    expect([isBegunBy(outcome), isBegunBy(outcome, kernel), isBegunBy(outcome, {})]).toEqual([
      true,
      true,
      false,
    ]);
    expect(isOutcome({ ...outcome }) || isOutcome(Object.create(outcome))).toBe(false);
  });

  it('freezes nothing, makes no envelope, and is counted (§1.5, §12.4)', () => {
    const { kernel } = createLab();
    const payload = labSample();
    const given = { accountRef: ref('a') };
    const outcome = kernel.dispatchSync('lab.sync', payload, given);
    expect([payload, given, given.accountRef].map((one) => Object.isFrozen(one))).toEqual([
      ...[false, false, false],
    ]);
    expect(kernel.stats()).toMatchObject({
      dispatches: 1,
      passed: 1,
      payloadsFrozen: 0,
      envelopesMade: 0,
      waiting: 0,
    });
    expect(outcome.payload).toBe(payload);
  });

  it('hands on where it comes from (§1.8)', async () => {
    const [heard, unheard] = await both(async ({ kernel }) => {
      const refs = { sessionId: 's', accountRef: ref('a'), threadRef: ref('t') };
      const first = kernel.dispatchSync('lab.sync', labSample(), refs);
      const second = await kernel.dispatch('lab.sequential', labSample(), { after: first });
      const third = await kernel.dispatch('lab.parallel', labSample(), {
        after: second,
        threadRef: null,
        agentId: 'x',
      });
      return kernel.dispatchSync('lab.sync', labSample(), { after: third, sessionId: 's' });
    });
    expect(unheard.event).toEqual({ ...heard.event, eventId: expect.any(String) as string });
    expect(unheard.event).toMatchObject({ sessionId: 's', agentId: 'x', threadRef: null });
  });

  it('makes an id once, and no more than are read or followed (§1.2, §1.3)', () => {
    let made = 0;
    const { kernel } = createLab({ ids: () => `id-${++made}` });
    const first = kernel.dispatchSync('lab.sync', labSample());
    const second = kernel.dispatchSync('lab.sync', labSample(), { after: first });
    const third = kernel.dispatchSync('lab.sync', labSample(), { after: second });
    expect(made).toBe(1);
    expect(third.event.correlationId).toBe(first.event.eventId);
    expect([first.event.correlationId, second.event.correlationId]).toEqual(['id-1', 'id-1']);
    expect(made).toBe(3);
  });

  it('keeps none of the dispatches before it (§1.8)', async () => {
    const { kernel } = createLab();
    const gone: WeakRef<object>[] = [];
    let last = kernel.dispatchSync('lab.sync', labSample());
    for (let i = 0; i < 20; i++) {
      gone.push(new WeakRef(last));
      last = kernel.dispatchSync('lab.sync', labSample(), { after: last, sessionId: 's' });
    }
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as () => void; // the flag makes it
    await new Promise((resolve) => setImmediate(resolve)); // a WeakRef holds its target until the turn ends
    collect();
    expect(gone.filter((one) => one.deref() !== undefined).length).toBeLessThanOrEqual(1);
    expect(last.event.sessionId).toBe('s');
  });

  it('is heard all the same where its signal is aborted, or the kernel is closed (§10.6, §10.7)', async () => {
    const { kernel } = createLab();
    const aborted = kernel.dispatchSync('lab.sync', labSample(), { signal: AbortSignal.abort() });
    expect([aborted.status, aborted.failures.map(({ kind }) => kind)]).toEqual([
      'failed',
      ['aborted'],
    ]);
    await kernel.close();
    expect(() => kernel.dispatchSync('lab.sync', labSample())).toThrow(/closed/);
  });

  it('names the handlers that were left out (§5.4)', () => {
    const { kernel } = createLab({ overrides: { 'x/a': { disabled: true } } });
    contributor(kernel, 'lab.sync')('observer', 'a', () => undefined);
    const outcome = kernel.dispatchSync('lab.sync', labSample());
    expect(outcome.skipped).toEqual([{ extensionId: 'x', contributionId: 'a', why: 'disabled' }]);
  });
});
