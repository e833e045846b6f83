import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { select } from '../../src/kernel/internal.js';
import { createLab, type LabCall, type LabOwn } from '../support/kernel-lab.js';

type Write = (target: object) => void;

/** Ways to write an object; each may throw, which is fine. */
const writes: readonly Write[] = [
  (target) => Reflect.set(target, 'planted', true),
  (target) => {
    for (const key of Object.keys(target)) Reflect.set(target, key, 'overwritten');
  },
  (target) => Object.assign(target, { planted: true }),
  (target) => {
    for (const key of Reflect.ownKeys(target)) Reflect.deleteProperty(target, key);
  },
  (target) => void Reflect.setPrototypeOf(target, { planted: true }),
  (target) => Object.defineProperty(target, 'planted', { value: true, enumerable: true }),
  (target) => {
    if (Array.isArray(target)) target.push('planted');
  },
  (target) => {
    if (Array.isArray(target)) target.length = 0;
  },
  (target) => {
    if (Array.isArray(target)) target.sort().reverse();
  },
];

/** Assigning to the call's own fields: they are accessors. */
const callFields = ['event', 'payload', 'annotations', 'selection', 'signal'] as const;

/** Every object that a handler can reach from a value, except what passes by reference. */
function reach(root: unknown): object[] {
  const seen = new Set<object>();
  const visit = (value: unknown): void => {
    if (typeof value !== 'object' || value === null || seen.has(value)) return;
    seen.add(value);
    for (const key of Reflect.ownKeys(value)) if (key !== 'raw') visit(Reflect.get(value, key));
  };
  visit(root);
  return [...seen];
}

type Part = 'event' | 'payload' | 'annotations' | 'selection';

/** What a handler sees of a call, as text. */
function view(call: LabCall): string {
  const { event, payload, annotations, selection } = call;
  return JSON.stringify({
    event,
    payload,
    annotations,
    selection,
    planted: [event, payload, annotations].map((one) => Reflect.get(one, 'planted') as unknown),
  });
}

interface Attack {
  readonly part: Part;
  readonly nth: number;
  readonly write: Write;
}

const attacks = (parts: readonly Part[]): fc.Arbitrary<Attack[]> =>
  fc.array(
    fc.record({
      part: fc.constantFrom(...parts),
      nth: fc.nat(),
      write: fc.constantFrom(...writes),
    }),
    { minLength: 1, maxLength: 4 },
  );

function attempt(call: LabCall, list: readonly Attack[]): void {
  for (const { part, nth, write } of list) {
    const reachable = reach(call[part]);
    const target = reachable[nth % Math.max(1, reachable.length)];
    if (target === undefined) continue;
    try {
      write(target);
    } catch {
      // a frozen object throws in strict code
    }
  }
  for (const field of callFields) Reflect.set(call, field, { planted: true });
}

/** What the second of two handlers sees, with the first attacking or not. */
async function seenBySecond(
  family: string,
  validate: 'borders' | 'always',
  list: readonly Attack[],
): Promise<string> {
  const { kernel } = createLab({ validate, ids: () => 'id' });
  const earlier = await kernel.dispatch('lab.sibling', { title: 'before' });
  const add = (
    name: 'observer' | 'augmenter' | 'mutator' | 'resolver',
    id: string,
    priority: number,
    handler: (call: LabCall, own: LabOwn) => unknown,
  ): void =>
    void kernel.contribute({ family, class: name, extensionId: 'x', id, priority, handler });
  if (family !== 'lab.parallel') {
    add('augmenter', 'note', 9, () => ({ notes: ['n'], span: { from: 1 } }));
    add('mutator', 'patch', 8, () => ({
      body: { lines: ['p'] },
      tags: ['t2'],
      headers: { b: '2' },
    }));
    add('resolver', 'propose', 7, () => select({ to: 'a', via: { hops: ['one'] } }));
  }
  add('observer', 'attacker', 1, (call) => attempt(call, list));
  let seen = '';
  add('observer', 'victim', 0, (call) => {
    seen = view(call);
  });
  const payload = { title: 'hello', tags: ['t'], headers: { a: '1' }, body: { lines: ['l'] } };
  const outcome = await kernel.run(family, payload, {
    after: earlier,
    metadata: { nested: { list: [1] } },
    providerMetadata: { deep: {} },
    accountRef: { channel: 'c', id: 'acc' },
    threadRef: { channel: 'c', id: 'thr' },
  });
  const { event, annotations, selection } = outcome;
  return `${seen} ${JSON.stringify({ event, payload: outcome.payload, annotations, selection })}`;
}

for (const validate of ['borders', 'always'] as const)
  for (const family of ['lab.parallel', 'lab.sequential', 'lab.sync'])
    describe(`on ${family}, validate: ${validate}, one handler’s writes to`, () => {
      const cannotBeSeen = async (parts: readonly Part[]): Promise<void> => {
        const untouched = await seenBySecond(family, validate, []);
        await fc.assert(
          fc.asyncProperty(attacks(parts), async (list) => {
            expect(await seenBySecond(family, validate, list)).toBe(untouched);
          }),
          { numRuns: 60 },
        );
      };

      it('payload and annotations cannot be seen by another (§1.5, §6.5, §7.1)', () =>
        cannotBeSeen(['payload', 'annotations']));

      it('the event, its metadata and its refs cannot be seen by another (§1.1, §1.5)', () =>
        cannotBeSeen(['event']));

      it('the best candidate and its target cannot be seen by another (§9.1)', () =>
        cannotBeSeen(['selection']));
    });

describe('what a handler keeps and writes later', () => {
  it.each([true, false])(
    'of its patch, annotations and target cannot be seen by another, generateCode: %s (§6.4, §7.1)',
    (generateCode) => {
      const { kernel } = createLab({ generateCode });
      const kept = {
        patch: { tags: ['t'], body: { lines: ['l'], part: { n: 1 } }, headers: { a: '1' } },
        notes: { notes: ['n'], span: { from: 1 } },
        target: { to: 'a', via: { hops: ['one'] } },
      };
      const add = (name: 'augmenter' | 'mutator' | 'resolver', id: string, value: unknown): void =>
        void kernel.contribute({
          family: 'lab.sync',
          class: name,
          extensionId: 'x',
          id,
          priority: 1,
          handler: () => value,
        });
      add('mutator', 'm', kept.patch);
      add('augmenter', 'a', kept.notes);
      add('resolver', 'r', select(kept.target));
      let expected = '';
      let seen = '';
      const watch = (id: string, handler: (call: LabCall) => void): void =>
        void kernel.contribute({
          family: 'lab.sync',
          class: 'observer',
          extensionId: 'x',
          id,
          handler,
        });
      watch('1', (call) => {
        expected = view(call);
        for (const target of reach(kept)) {
          if (target === kept || target === kept.patch || target === kept.notes) continue;
          for (const write of writes)
            try {
              write(target);
            } catch {
              // frozen
            }
        }
      });
      watch('2', (call) => {
        seen = view(call);
      });
      kernel.dispatchSync('lab.sync', { title: 'hello' });
      expect(seen).toBe(expected);
    },
  );
});

describe('with validate: always', () => {
  it.each(['lab.parallel', 'lab.sequential', 'lab.sync'])(
    'on %s nothing can be hung on a call, or on a `this`, for the next handler to find (§1.5, §3.8)',
    async (family) => {
      const { kernel } = createLab({ validate: 'always' });
      const found: unknown[] = [];
      for (const id of ['a', 'b'])
        kernel.contribute({
          family,
          class: 'observer',
          extensionId: 'x',
          id,
          handler(this: unknown, call, own) {
            found.push(Reflect.get(call, 'planted'), Reflect.get(own, 'planted'));
            expect([this, Object.isFrozen(call)]).toEqual([undefined, true]);
            for (const target of [call, own]) Reflect.set(target, 'planted', id);
            Reflect.defineProperty(call, 'payload', { value: 'forged' });
          },
        });
      const outcome = await kernel.run(family, { title: 'hello' });
      expect(outcome.failures).toEqual([]);
      expect(found).toEqual([undefined, undefined, undefined, undefined]);
    },
  );
});
