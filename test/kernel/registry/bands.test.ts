import { describe, expect, it } from 'vitest';
import { createKernel, type Kernel } from '../../../src/kernel/internal.js';
import { samplePayload } from '../../../src/testing/index.js';

const family = 'agent.model.resolving';

/** A kernel whose handlers write their name down. */
function bandLab(): { kernel: Kernel; called: string[]; add(id: string, options?: Options): void } {
  const kernel = createKernel({ trace: true });
  const called: string[] = [];
  return {
    kernel,
    called,
    add(id, options = {}) {
      kernel.contribute({
        family,
        class: 'mutator',
        extensionId: 'x',
        id,
        ...options,
        handler: () => {
          called.push(id);
          return { model: id };
        },
      });
    },
  };
}

interface Options {
  readonly band?: 'last';
  readonly priority?: number;
}

const payload = () => samplePayload(family);

describe('the last band (§4.9)', () => {
  it('runs after all others, whatever their priority', async () => {
    const { kernel, called, add } = bandLab();
    add('late-high', { band: 'last', priority: Number.MAX_VALUE });
    add('late-low', { band: 'last', priority: -1 });
    add('lowest', { priority: -Number.MAX_VALUE });
    add('plain');
    await kernel.dispatch(family, payload());
    expect(called).toEqual(['plain', 'lowest', 'late-high', 'late-low']);
    expect(kernel.plan(family).map(({ band }) => band)).toEqual(['main', 'main', 'last', 'last']);
  });

  it('can be dispatched to alone, or left out, and the others are skipped by name', async () => {
    const { kernel, called, add } = bandLab();
    add('late', { band: 'last' });
    add('plain');
    const last = await kernel.dispatch(family, payload(), { band: 'last' });
    expect(called).toEqual(['late']);
    expect(last.skipped).toEqual([
      { extensionId: 'x', contributionId: 'plain', why: 'other-band' },
    ]);
    expect(last.steps.map(({ contributionId, result }) => [contributionId, result])).toEqual([
      ['late', 'patched'],
      ['plain', 'skipped'],
    ]);
    called.length = 0;
    const main = await kernel.dispatch(family, payload(), { band: 'main' });
    expect(called).toEqual(['plain']);
    expect(main.payload.model).toBe('plain');
  });

  it('is planned once, and again only when contributions change (§4.5)', async () => {
    const { kernel, called, add } = bandLab();
    add('late', { band: 'last' });
    for (let i = 0; i < 3; i++) await kernel.dispatch(family, payload(), { band: 'last' });
    const built = kernel.stats().plansBuilt;
    add('later', { band: 'last' });
    called.length = 0;
    await kernel.dispatch(family, payload(), { band: 'last' });
    expect(called).toEqual(['late', 'later']);
    expect(kernel.stats().plansBuilt).toBe(built + 1);
  });

  it('is shown as one frozen list until contributions change, for callers that ask each time', () => {
    const { kernel, add } = bandLab();
    add('plain');
    const shown = kernel.plan(family);
    expect(kernel.plan(family)).toBe(shown);
    expect(Object.isFrozen(shown) && Object.isFrozen(shown[0])).toBe(true);
    add('late', { band: 'last' });
    expect(kernel.plan(family).map(({ contributionId }) => contributionId)).toEqual([
      'plain',
      'late',
    ]);
  });

  it('is empty where nobody stands in it', async () => {
    const { kernel, called, add } = bandLab();
    add('plain');
    const outcome = await kernel.dispatch(family, payload(), { band: 'last' });
    expect(called).toEqual([]);
    expect(outcome.status).toBe('passed');
  });

  it('is refused by another name, for a contribution and for a dispatch', async () => {
    const { kernel } = bandLab();
    const contribution = {
      family,
      class: 'mutator',
      extensionId: 'x',
      id: 'a',
      handler: () => null,
    } as const;
    const wrong = { ...contribution, band: 'first' as 'last' };
    expect(() => kernel.contribute(wrong)).toThrow('band can only be "last"');
    const given = { band: 'first' as 'last' };
    await expect(kernel.dispatch(family, payload(), given)).rejects.toThrow('main, last');
  });
});

describe('kernel.grant (§6.7)', () => {
  const stage = 'agent.prompt.building';
  const contribute = (kernel: Kernel, id: string) =>
    kernel.contribute({
      family: stage,
      class: 'mutator',
      extensionId: 'late',
      id,
      handler: () => ({ systemPrompt: id }),
    });

  it('lets what is contributed afterwards set the field, until it is disposed', async () => {
    const kernel = createKernel();
    contribute(kernel, 'before');
    const granted = kernel.grant('late', [`${stage}:systemPrompt`]);
    const during = contribute(kernel, 'during');
    const outcome = await kernel.dispatch(stage, samplePayload(stage));
    expect(outcome.payload.systemPrompt).toBe('during');
    expect(outcome.failures.map(({ kind, contributionId }) => [kind, contributionId])).toEqual([
      ['untrusted', 'before'],
    ]);
    granted[Symbol.dispose]();
    during[Symbol.dispose]();
    contribute(kernel, 'after');
    const later = await kernel.dispatch(stage, samplePayload(stage));
    expect(later.failures.map(({ kind }) => kind)).toEqual(['untrusted', 'untrusted']);
  });

  it('is not taken from others by disposing it twice', async () => {
    const kernel = createKernel();
    const first = kernel.grant('late', [`${stage}:systemPrompt`]);
    first[Symbol.dispose]();
    kernel.grant('late', [`${stage}:systemPrompt`]);
    first[Symbol.dispose]();
    contribute(kernel, 'granted');
    const outcome = await kernel.dispatch(stage, samplePayload(stage));
    expect(outcome.payload.systemPrompt).toBe('granted');
  });

  it('refuses what is no trusted field', () => {
    const kernel = createKernel();
    expect(() => kernel.grant('late', [`${stage}:prompt`])).toThrow('names no trusted field');
  });
});
