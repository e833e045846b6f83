import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Trail } from '../../../src/agent/run/index.js';
import { createKernel, type Envelope, openKernel } from '../../../src/kernel/internal.js';

const families = ['ingress.normalized', 'routing.resolved', 'session.starting'] as const;
const message = {
  ...{ channel: 'c', accountId: 'a', from: 'ada', content: 'x', attachments: [], metadata: {} },
};
const payloads = {
  'ingress.normalized': message,
  'routing.resolved': {
    ...{ message, agentId: 'main', sessionKey: 's', explicit: false, candidateCount: 1 },
  },
  'session.starting': {
    ...{ agentId: 'main', sessionKey: 's', sessionId: 'i', isNew: true, message },
    ...{ context: {}, memoryKeys: [], metadata: {} },
  },
} as const;

/** A step of a message: a stage, or a reload between two of them. */
type Step =
  | { readonly dispatch: (typeof families)[number] }
  | { readonly load: (typeof families)[number]; readonly annotates: boolean }
  | { readonly unload: (typeof families)[number] }
  | { readonly carry: string };

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ dispatch: fc.constantFrom(...families) }),
  fc.record({ load: fc.constantFrom(...families), annotates: fc.boolean() }),
  fc.record({ unload: fc.constantFrom(...families) }),
  fc.record({ carry: fc.string() }),
);

/** Runs the steps. @returns all that handlers and the dispatches after them can see, and how many dispatches there were. */
async function seen(steps: readonly Step[], how: 'tell' | 'dispatch') {
  const kernel = createKernel();
  const open = openKernel(kernel);
  const calls: unknown[] = [];
  const loaded = new Map<string, Disposable>();
  const received = { channel: 'c', accountId: 'a', receivedAtMs: 1, raw: {} };
  const first = await kernel.dispatch('ingress.received', received, { eventId: 'first' });
  const trail = new Trail(kernel, first, { agentId: 'main' });
  for (const one of steps) {
    if ('carry' in one) trail.carry({ sessionId: one.carry });
    if ('unload' in one) loaded.get(one.unload)?.[Symbol.dispose]();
    if ('unload' in one) loaded.delete(one.unload);
    if ('load' in one && !loaded.has(one.load))
      loaded.set(
        one.load,
        open.contribute({
          ...{ family: one.load, extensionId: 'e', id: one.load },
          class: one.load === 'routing.resolved' ? 'observer' : 'augmenter',
          handler: ({ event, payload, annotations }) => {
            const { eventId: _, occurredAt: __, ...refs } = event as Envelope; // of an open kernel
            calls.push({ refs, payload, annotations });
            return one.annotates ? { context: [`from ${one.load}`] } : undefined;
          },
        }),
      );
    if ('dispatch' in one) {
      const { dispatch: family } = one;
      let made = 0;
      const make = () => {
        made++;
        return structuredClone(payloads[family]);
      };
      const outcome = await (how === 'tell'
        ? trail.tell(family, make)
        : trail.dispatch(family, make()));
      expect(made).toBe(outcome === undefined ? 0 : 1);
      expect(outcome === undefined).toBe(how === 'tell' && !loaded.has(family));
      expect(outcome?.status ?? 'passed').toBe('passed');
    }
  }
  const { correlationId, annotations } = {
    ...trail.last?.event,
    annotations: trail.last?.annotations,
  };
  return { calls, correlationId, annotations, dispatches: kernel.stats().dispatches };
}

describe('a stage that nobody hears', () => {
  it('is not made, and all that is heard is the same, whatever is loaded and unloaded between two stages (§1.5)', async () => {
    let heard = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
        const told = await seen(steps, 'tell');
        expect(told).toEqual(await seen(steps, 'dispatch'));
        heard += told.calls.length;
      }),
    );
    expect(heard).toBeGreaterThan(10);
  });

  it('is made if a tap listens, if its dispatch is stopped, and if its kernel is closed or watched by another', async () => {
    const kernel = createKernel();
    const received = { channel: 'c', accountId: 'a', receivedAtMs: 1, raw: {} };
    const trail = new Trail(kernel, await kernel.dispatch('ingress.received', received));
    const tell = (of = trail, signal?: AbortSignal) =>
      of.tell('ingress.normalized', () => message, signal);
    expect(tell()).toBe(undefined);
    expect((await tell(trail, AbortSignal.abort()))?.status).toBe('failed');
    expect((await tell(new Trail({ ...kernel }, trail.last)))?.status).toBe('passed');
    const tap = kernel.tap({ outcome: () => undefined });
    expect((await tell())?.status).toBe('passed');
    tap[Symbol.dispose]();
    expect(tell()).toBe(undefined);
    await kernel.close();
    await expect(tell()).rejects.toMatchObject({ code: 'kernel-closed' });
  });
});
