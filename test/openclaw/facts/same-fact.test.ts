import { describe, expect, it, vi } from 'vitest';
import { createKernel, type Outcome } from '../../../src/kernel/internal.js';
import { factOf } from '../../../src/openclaw/facts/legacy-bus.js';
import { type SameFactOptions, sameFact } from '../../../src/openclaw/facts/same-fact.js';
import { samplePayload, virtualClock } from '../../../src/testing/index.js';

function lab(options: SameFactOptions = {}) {
  const kernel = createKernel();
  const clock = virtualClock();
  const facts = sameFact(kernel, { clock, ...options });
  const payload = samplePayload('ingress.normalized');
  const begin = vi.fn(() => kernel.dispatch('ingress.normalized', payload));
  const announce = (bus: 'plugin-hooks' | 'internal-hooks', messageId = 'm-1') =>
    facts.announce(bus, factOf('ingress.normalized', { ...payload, messageId }), begin);
  return { kernel, clock, facts, begin, announce };
}

describe('a fact that several buses tell of', () => {
  it('is dispatched by the first, in its own stack, and the others get its outcome', async () => {
    const { announce, begin } = lab();
    const first = announce('plugin-hooks');
    expect(begin).toHaveBeenCalledTimes(1);
    const second = announce('internal-hooks');
    expect(begin).toHaveBeenCalledTimes(1);
    expect(await second).toBe(await first);
  });

  it('is another fact where the same bus tells twice, and the n-th of each go together', async () => {
    const { announce, begin } = lab();
    const hooks = [await announce('plugin-hooks'), await announce('plugin-hooks')];
    const internal = [await announce('internal-hooks'), await announce('internal-hooks')];
    expect(begin).toHaveBeenCalledTimes(2);
    expect(internal[0]).toBe(hooks[0]);
    expect(internal[1]).toBe(hooks[1]);
    expect(hooks[0]).not.toBe(hooks[1]);
    await announce('internal-hooks'); // a third, that the other bus has not told of
    expect(begin).toHaveBeenCalledTimes(3);
  });

  it('is not another message', async () => {
    const { announce, begin } = lab();
    await announce('plugin-hooks', 'm-1');
    await announce('internal-hooks', 'm-2');
    expect(begin).toHaveBeenCalledTimes(2);
  });

  it('is one registry for all bridges of a kernel, and another for another kernel', () => {
    const { kernel, facts } = lab();
    expect(sameFact(kernel)).toBe(facts);
    expect(sameFact(createKernel())).not.toBe(facts);
  });

  it('is forgotten some time after it was last told of', async () => {
    const { announce, begin, clock } = lab({ maxAgeMs: 1_000 });
    await announce('plugin-hooks');
    await clock.advance(1_001);
    await announce('internal-hooks');
    expect(begin).toHaveBeenCalledTimes(2);
  });

  it('counts its age from the end of its dispatch', async () => {
    const { facts, clock } = lab({ maxAgeMs: 1_000 });
    const identity = factOf('compaction.before', { sessionKey: 's' });
    let end: (outcome: Outcome<'compaction.before'>) => void = () => undefined;
    const slow = facts.announce(
      'plugin-hooks',
      identity,
      () => new Promise<Outcome<'compaction.before'>>((resolve) => (end = resolve)),
    );
    await clock.advance(900);
    end({ status: 'passed' } as Outcome<'compaction.before'>);
    await slow;
    await clock.advance(900);
    const other = vi.fn();
    expect(await facts.announce('internal-hooks', identity, other)).toBe(await slow);
    expect(other).not.toHaveBeenCalled();
  });

  it('is forgotten where too many came after it', async () => {
    const { announce, begin, facts } = lab({ maxFacts: 10 });
    for (let i = 0; i < 50; i++) await announce('plugin-hooks', `m-${i}`);
    expect(facts.stats()).toEqual({ remembered: 10, dispatched: 50, joined: 0 });
    await announce('internal-hooks', 'm-0');
    await announce('internal-hooks', 'm-49');
    expect(begin).toHaveBeenCalledTimes(51);
    expect(facts.stats().joined).toBe(1);
  });

  it('is dispatched by the second where the first was refused', async () => {
    const { kernel, facts, begin } = lab();
    const payload = samplePayload('ingress.normalized');
    const identity = factOf('ingress.normalized', payload);
    const refused = facts.announce('plugin-hooks', identity, () => Promise.reject(new Error('no')));
    const second = facts.announce('internal-hooks', identity, begin);
    await expect(refused).rejects.toThrow('no');
    expect((await second).status).toBe('passed');
    expect(begin).toHaveBeenCalledTimes(1);
    expect(kernel.stats().dispatches).toBe(1);
  });

  it('is refused to its bus where the dispatch throws at once', async () => {
    const { facts } = lab();
    const identity = factOf('gateway.started', {});
    const thrown = facts.announce('plugin-hooks', identity, () => {
      throw new Error('at once');
    });
    await expect(thrown).rejects.toThrow('at once');
  });
});

describe('a compaction', () => {
  const begin = () => Promise.resolve({ status: 'passed' } as Outcome<'compaction.after'>);

  it('is the same by its session key, its session id or its run', async () => {
    const { facts } = lab();
    const tell = (
      bus: 'plugin-hooks' | 'internal-hooks' | 'agent-events',
      ids: { sessionKey?: string; sessionId?: string; runId?: string },
    ) => facts.announce(bus, factOf('compaction.after', ids), begin);
    await tell('agent-events', { runId: 'r-1', sessionKey: 'k' });
    await tell('plugin-hooks', { sessionKey: 'k', sessionId: 's' });
    await tell('internal-hooks', { sessionKey: 'other' });
    expect(facts.stats()).toMatchObject({ dispatched: 2, joined: 1 });
  });

  it('that its hook does not name is the latest that another bus has just told of', async () => {
    const { facts, clock } = lab();
    const named = factOf('compaction.after', { runId: 'r-1' });
    const nameless = factOf('compaction.after', {});
    expect(nameless.names).toEqual([]);
    await facts.announce('agent-events', named, begin);
    await facts.announce('plugin-hooks', nameless, begin);
    expect(facts.stats()).toMatchObject({ dispatched: 1, joined: 1 });
    await facts.announce('plugin-hooks', nameless, begin); // it has told of that one
    expect(facts.stats()).toMatchObject({ dispatched: 2, joined: 1 });
    await facts.announce('agent-events', named, begin);
    await clock.advance(1_001);
    await facts.announce('plugin-hooks', nameless, begin); // too late to mean that one
    expect(facts.stats()).toMatchObject({ dispatched: 4, joined: 1 });
  });
});
