import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { select } from '../../src/kernel/internal.js';
import { faultSample, faultStage } from '../support/faults.js';
import {
  type Bag,
  type LabCall,
  type LabKernel,
  type LabOutcome,
  labKernel,
} from '../support/kernel-lab.js';

/** Everything that can be read of a value, as text: also symbols, hidden properties and prototypes' changes. */
function snapshot(value: unknown, seen = new Map<object, number>()): string {
  if (typeof value !== 'object' || value === null) return `${typeof value}:${String(value)}`;
  const known = seen.get(value);
  if (known !== undefined) return `#${known}`;
  seen.set(value, seen.size);
  const parts = Reflect.ownKeys(value).map(
    (key) => `${String(key)}=${snapshot(Reflect.get(value, key), seen)}`,
  );
  return `{${parts.join(',')}}`;
}

/** Every object that can be reached from a value. */
function reachable(root: unknown, found: Set<object> = new Set()): Set<object> {
  if (typeof root !== 'object' || root === null || found.has(root)) return found;
  found.add(root);
  for (const key of Reflect.ownKeys(root)) reachable(Reflect.get(root, key), found);
  return found;
}

/** Ways to write to an object. `Reflect` answers instead of throwing, as sloppy code would. */
const attacks: Readonly<Record<string, (target: object) => void>> = {
  set: (target) => {
    for (const key of Reflect.ownKeys(target))
      Reflect.set(target, key, key === 'length' ? 0 : 'written');
  },
  add: (target) => void Reflect.set(target, 'added', 'written'),
  addSymbol: (target) => void Reflect.set(target, Symbol.for('added'), 'written'),
  define: (target) => void Reflect.defineProperty(target, 'content', { get: () => 'written' }),
  delete: (target) => {
    for (const key of Reflect.ownKeys(target)) Reflect.deleteProperty(target, key);
  },
  prototype: (target) => void Reflect.setPrototypeOf(target, { inherited: 'written' }),
  push: (target) => {
    try {
      Array.prototype.push.call(target, 'written');
    } catch {
      // frozen arrays throw
    }
  },
};

const given = () => ({
  workspaceId: 'w',
  accountRef: { channel: 'console', id: 'a' },
  conversationRef: { channel: 'console', id: 'c' },
  threadRef: { channel: 'console', id: 't' },
  messageRef: { channel: 'console', id: 'm' },
  metadata: { deep: { n: 1 }, list: [1] },
  providerMetadata: { raw: { n: 1 } },
});

const payload = () =>
  faultSample({ tags: { color: 'red', deep: { list: [1, { n: 1 }] } }, opaque: { list: [[1]] } });

const views = ['event', 'payload', 'annotations', 'selection'] as const;
type View = (typeof views)[number];

interface Pair {
  readonly mode: 'parallel' | 'sequential' | 'sync-sequential';
  readonly validate: 'borders' | 'always';
}

/** What the second of two handlers sees, and the outcome, after the first did something to its call. */
async function second(pair: Pair, first: (call: LabCall) => void) {
  const stage = faultStage({ mode: pair.mode });
  const kernel: LabKernel = labKernel([stage], { validate: pair.validate });
  const seen: string[] = [];
  const contribute = (name: 'augmenter' | 'mutator' | 'resolver', result: unknown) =>
    kernel.contribute({
      family: stage.family,
      class: name,
      id: name,
      priority: 10,
      handler: () => result,
    });
  if (pair.mode !== 'parallel') {
    contribute('augmenter', { notes: ['one'], language: 'en' });
    contribute('mutator', { tags: { added: { deep: [1] } }, list: ['two'] });
    contribute('resolver', select({ to: 'x', via: { name: 'v', deep: { n: 1 } } }));
  }
  const observe = (id: string, handler: (call: LabCall) => void) =>
    kernel.contribute({ family: stage.family, class: 'observer', id, handler });
  observe('a', first);
  observe('b', (call) => {
    const shown = views.map((view) => `${view}:${snapshot(call[view])}`);
    seen.push(shown.join('\n'), `own:${Reflect.ownKeys(call).map(String).join(',')}`);
  });
  const outcome = await kernel.run(stage.family, payload(), {
    ...given(),
    eventId: 'e',
    occurredAt: 1,
  });
  return { seen: seen.join('\n'), outcome: snapshot(jsonOf(outcome)), stage };
}

/** The outcome, but for what it tells of a write that had no effect (§5.7). */
const jsonOf = (outcome: LabOutcome): Bag => ({
  ...outcome.toJSON(),
  failures: outcome.failures
    .filter(({ kind }) => kind !== 'wrote-payload')
    .map(({ error: _, ...rest }) => rest),
});

const pairs = fc.record({
  mode: fc.constantFrom('parallel', 'sequential', 'sync-sequential'),
  validate: fc.constantFrom('borders', 'always'),
});

describe('fault 17: what one handler writes no other can see (P)', () => {
  it.each(views)('P: through %s', async (view: View) => {
    await fc.assert(
      fc.asyncProperty(pairs, fc.constantFrom(...Object.keys(attacks)), async (pair, attack) => {
        const untouched = await second(pair, () => undefined);
        const attacked = await second(pair, (call) => {
          for (const target of reachable(call[view])) attacks[attack]?.(target);
        });
        expect(attacked.seen).toBe(untouched.seen);
        expect(attacked.outcome).toBe(untouched.outcome);
      }),
      { numRuns: 60 },
    );
  });

  it('P: on the call itself, with validate: always, where calls are frozen (§1.5)', async () => {
    await fc.assert(
      fc.asyncProperty(pairs, fc.constantFrom(...Object.keys(attacks)), async (pair, attack) => {
        const always = { ...pair, validate: 'always' } as const;
        const untouched = await second(always, () => undefined);
        const attacked = await second(always, (call) => {
          attacks[attack]?.(call);
          for (const key of views)
            Reflect.defineProperty(call, key, { value: { content: 'forged' } });
        });
        expect(attacked.seen).toBe(untouched.seen);
      }),
      { numRuns: 40 },
    );
  });

  it('P: by assignment to the call, in either setting: it throws (§1.5)', async () => {
    await fc.assert(
      fc.asyncProperty(pairs, fc.constantFrom(...views), async (pair, view) => {
        const untouched = await second(pair, () => undefined);
        const attacked = await second(pair, (call) => {
          expect(() => Object.assign(call, { [view]: { content: 'forged' } })).toThrow(TypeError);
        });
        expect(attacked.seen).toBe(untouched.seen);
      }),
      { numRuns: 20 },
    );
  });

  it('what a handler returned and kept, it cannot write afterwards (§6.4)', async () => {
    const stage = faultStage();
    const kept: Readonly<Record<string, Bag | readonly Bag[]>> = {
      mutator: { tags: { deep: { n: 1 } }, list: ['two'] },
      augmenter: { notes: ['one'] },
      resolver: [{ ...select({ to: 'x', via: { name: 'v' } }) }],
    };
    const kernel = labKernel([stage]);
    const contribute = (name: 'mutator' | 'augmenter' | 'resolver') =>
      kernel.contribute({ family: stage.family, class: name, id: name, handler: () => kept[name] });
    contribute('mutator');
    contribute('augmenter');
    contribute('resolver');
    const outcome = await kernel.run(stage.family, payload());
    const before = snapshot(jsonOf(outcome));
    for (const result of Object.values(kept))
      for (const target of reachable(result))
        for (const attack of Object.values(attacks)) attack(target);
    expect(snapshot(jsonOf(outcome))).toBe(before);
  });

  it('the details of a cancel cannot be written afterwards (§8.1)', async () => {
    const stage = faultStage();
    const kernel = labKernel([stage]);
    const details = { deep: { n: 1 } };
    const handler = () => ({ kind: 'cancel', code: 'policy', details });
    kernel.contribute({ family: stage.family, class: 'veto', id: 'a', handler });
    const outcome = await kernel.run(stage.family, payload());
    Reflect.set(details.deep, 'n', 2);
    expect(outcome.cancel?.details).toEqual({ deep: { n: 1 } });
  });

  it('a listener of the tap cannot change what the caller gets (§12.2)', async () => {
    const stage = faultStage();
    const kernel = labKernel([stage], {
      trace: true,
      tap: {
        outcome: (outcome) => {
          const lists = [outcome.failures, outcome.candidates, outcome.changes, outcome.steps];
          for (const list of lists) for (const attack of Object.values(attacks)) attack(list);
        },
      },
    });
    const contribute = (name: 'mutator' | 'resolver' | 'observer', result: unknown) =>
      kernel.contribute({ family: stage.family, class: name, id: name, handler: () => result });
    contribute('mutator', { content: 'x' });
    contribute('resolver', select({ to: 'x' }));
    contribute('observer', 'no observer returns a text');
    const { failures, candidates, changes, steps } = await kernel.run(stage.family, payload());
    const all: readonly unknown[] = [...failures, ...candidates, ...changes, ...steps];
    expect(all).toHaveLength(1 + 1 + 1 + 3);
    expect(all).not.toContain('written');
  });

  it('nothing that a call or own leads to is the running dispatch itself', async () => {
    const stage = faultStage();
    const kernel = labKernel([stage]);
    const leaks: string[] = [];
    kernel.contribute({
      family: stage.family,
      class: 'observer',
      id: 'a',
      handler: (call, own) => {
        for (const start of [call, own]) {
          const owner = (Object.getPrototypeOf(start) as Bag)['constructor'];
          if (typeof owner !== 'function') continue;
          for (const name of Object.getOwnPropertyNames(owner)) {
            const member: unknown = Reflect.get(owner, name);
            if (typeof member !== 'function') continue;
            const made: unknown = Reflect.apply(member, owner, [call]);
            if (typeof made === 'object' && made !== null && 'services' in made) leaks.push(name);
          }
        }
      },
    });
    await kernel.run(stage.family, payload());
    expect(leaks).toEqual([]);
  });

  it.each(['call', 'own'] as const)('the prototype of %s takes no writes', async (which) => {
    const stage = faultStage();
    const kernel = labKernel([stage]);
    const taken: boolean[] = [];
    kernel.contribute({
      family: stage.family,
      class: 'observer',
      id: 'a',
      handler: (call, own) => {
        const prototype = Object.getPrototypeOf({ call, own }[which]) as object;
        taken.push(Reflect.set(prototype, 'written', 'by a handler'));
        Reflect.deleteProperty(prototype, 'written');
      },
    });
    await kernel.run(stage.family, payload());
    expect(taken).toEqual([false]);
  });
});
