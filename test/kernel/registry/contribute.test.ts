import { describe, expect, it } from 'vitest';
import { collectingLogger } from '../../../src/testing/collecting-logger.js';
import {
  byName,
  contributor,
  createLab,
  deferred,
  type LabContribution,
} from '../../support/kernel-lab.js';
import { labSample } from '../../support/kernel-stages.js';

const nothing = (): undefined => undefined;
const base: LabContribution = {
  family: 'lab.sync',
  class: 'observer',
  extensionId: 'x',
  id: 'o',
  handler: nothing,
};

function refusal(over: Partial<LabContribution>): unknown {
  try {
    createLab().kernel.contribute({ ...base, ...over });
  } catch (thrown) {
    return thrown;
  }
  return undefined;
}

describe('a contribution is refused', () => {
  it('of an unknown family, with the nearest (§3.1)', () => {
    expect(refusal({ family: 'lab.snyc' })).toMatchObject({
      code: 'unknown-family',
      message: expect.stringContaining('"lab.sync"') as string,
    });
  });

  it('of a class that the stage does not allow, with the stages that do (§3.1)', () => {
    expect(refusal({ family: 'lab.parallel', class: 'veto' })).toMatchObject({
      code: 'class-not-allowed',
      message: expect.stringContaining('it allows observer') as string,
      hint: expect.stringContaining('lab.sequential') as string,
    });
  });

  it.each<[string, Partial<LabContribution>]>([
    ['an infinite priority', { priority: Number.POSITIVE_INFINITY }],
    ['a priority that is no number', { priority: Number.NaN }],
    ['no time', { timeoutMs: 0 }],
    ['failClosed on an observer', { failClosed: true }],
    ['recheck on a mutator', { class: 'mutator', recheck: false }],
    ['detached on a veto', { class: 'veto', detached: true }],
    ['preview on a stage that judges no streams', { class: 'veto', preview: 'ok' }],
    ['preview on an observer', { preview: 'ok' }],
    ['an id with a slash', { id: 'a/b' }],
    ['an empty id', { id: '' }],
    ['an extension id with a space', { extensionId: 'a b' }],
    ['no handler', { handler: undefined as unknown as LabContribution['handler'] }],
    ['no class', { class: 'spectator' as LabContribution['class'] }],
  ])('with %s (§3.4, §4.1)', (_, over) => {
    expect(refusal(over)).toMatchObject({ code: 'bad-contribution' });
  });

  it('when its handler is async and its stage sync-sequential (§4.4)', () => {
    expect(refusal({ handler: async () => undefined })).toMatchObject({ code: 'async-handler' });
    expect(refusal({ handler: async function* () {} })).toMatchObject({ code: 'async-handler' });
    expect(refusal({ family: 'lab.sequential', handler: async () => undefined })).toBe(undefined);
  });

  it('the second time, with where the first is; disposing frees the id (§3.3)', () => {
    const { kernel } = createLab();
    const first = kernel.contribute(base);
    const again = (): Disposable => kernel.contribute({ ...base, family: 'lab.parallel' });
    expect(again).toThrow(expect.objectContaining({ code: 'duplicate-contribution' }));
    expect(again).toThrow(/lab\.sync/);
    kernel.contribute({ ...base, extensionId: 'y' });
    first[Symbol.dispose]();
    const second = again();
    first[Symbol.dispose](); // an old registration does not free what came after it
    expect(kernel.plan('lab.parallel').map(byName)).toEqual(['x/o']);
    second[Symbol.dispose]();
    expect(kernel.stats().contributions).toBe(1);
  });

  it('when a family has too many; the log warned before, once (§3.6)', () => {
    const logger = collectingLogger();
    const { kernel } = createLab({ logger, limits: { warnAt: 3, refuseAt: 5 } });
    const add = contributor(kernel, 'lab.sync');
    for (let i = 0; i < 5; i++) add('observer', `o${i}`, nothing);
    expect(logger.messages('warn')).toEqual([
      expect.stringMatching(/"lab.sync" has 3 handlers.*x\/o2/),
    ]);
    expect(() => add('observer', 'o5', nothing)).toThrow(
      expect.objectContaining({ code: 'too-many-handlers' }),
    );
    expect(kernel.stats().contributions).toBe(5);
  });

  it('and leaves nothing behind when it is (§3.1)', () => {
    const { kernel } = createLab();
    expect(() => kernel.contribute({ ...base, priority: Number.NaN })).toThrow();
    expect(kernel.stats().contributions).toBe(0);
    kernel.contribute(base);
  });

  it.each(['constructor', 'toString', '__proto__', 'hasOwnProperty'])(
    'not because its extension is called %s (§6.7, §12.1)',
    (extensionId) => {
      const { kernel } = createLab({ grants: {}, overrides: {} });
      kernel.contribute({
        ...base,
        extensionId,
        class: 'mutator',
        handler: () => ({ title: 'new' }),
      });
      expect(kernel.dispatchSync('lab.sync', labSample()).payload).toEqual({ title: 'new' });
    },
  );
});

describe('contributing and disposing during a dispatch', () => {
  it('leaves the dispatch in flight as it began (§3.5)', () => {
    const { kernel } = createLab();
    const add = contributor(kernel, 'lab.sync');
    const called: string[] = [];
    const mark = (id: string) => () => void called.push(id);
    const registrations: Disposable[] = [];
    add('observer', 'a', () => {
      called.push('a');
      for (const one of registrations.splice(0)) one[Symbol.dispose]();
      if (called.length === 1) add('observer', 'c', mark('c'));
    });
    registrations.push(add('observer', 'b', mark('b')));
    kernel.dispatchSync('lab.sync', labSample());
    expect(called).toEqual(['a', 'b']);
    kernel.dispatchSync('lab.sync', labSample());
    expect(called).toEqual(['a', 'b', 'a', 'c']);
  });

  it('also where the dispatch waits (§3.5)', async () => {
    const { kernel } = createLab();
    const add = contributor(kernel, 'lab.sequential');
    const gate = deferred();
    const called: string[] = [];
    const first = add('observer', 'a', async () => {
      await gate.promise;
      called.push('a');
    });
    const second = add('veto', 'b', () => void called.push('b'), { recheck: true });
    const running = kernel.dispatch('lab.sequential', labSample());
    first[Symbol.dispose]();
    second[Symbol.dispose]();
    add('observer', 'c', () => void called.push('c'));
    gate.resolve();
    await running;
    expect(called).toEqual(['a', 'b']);
    await kernel.dispatch('lab.sequential', labSample());
    expect(called).toEqual(['a', 'b', 'c']);
  });

  it('a handler that disposes itself runs to its end, and once (§3.5)', () => {
    const { kernel } = createLab();
    let calls = 0;
    const own: Disposable[] = [];
    own.push(
      contributor(kernel, 'lab.sync')('mutator', 'm', () => {
        calls++;
        own[0]?.[Symbol.dispose]();
        return { title: 'new' };
      }),
    );
    expect(kernel.dispatchSync('lab.sync', labSample()).payload).toEqual({ title: 'new' });
    expect(kernel.dispatchSync('lab.sync', labSample()).payload).toEqual({ title: 'hello' });
    expect(calls).toBe(1);
  });
});
