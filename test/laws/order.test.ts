import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { byName, createLab, gist } from '../support/kernel-lab.js';
import { install, payloads, programs } from '../support/kernel-programs.js';
import { labSample } from '../support/kernel-stages.js';

interface Placed {
  readonly extensionId: string;
  readonly id: string;
  readonly priority: number;
}

const names = fc.constantFrom(
  'a',
  'A',
  'b',
  'a.b',
  'a-b',
  'é',
  'z',
  'ß',
  '\u{1F600}',
  '\uffee',
  '@s/x',
);
const placed: fc.Arbitrary<Placed[]> = fc.uniqueArray(
  fc.record({
    extensionId: names,
    id: names.filter((name) => !name.includes('/')),
    priority: fc.constantFrom(0, -0, 1, -1, 0.5, 1e308, -1e308, Number.MIN_VALUE),
  }),
  { selector: ({ extensionId, id }) => `${extensionId} ${id}`, maxLength: 20 },
);

/** §4.1, as it is written. */
function reference(left: Placed, right: Placed): number {
  if (left.priority !== right.priority) return left.priority > right.priority ? -1 : 1;
  if (left.extensionId !== right.extensionId) return left.extensionId < right.extensionId ? -1 : 1;
  return left.id < right.id ? -1 : 1;
}

describe('the order of handlers', () => {
  it('is that of the clause, whatever the order of registration (§4.1)', () => {
    const shuffled = placed.chain((list) =>
      fc.tuple(fc.constant(list), fc.shuffledSubarray(list, { minLength: list.length })),
    );
    fc.assert(
      fc.property(shuffled, ([list, registered]) => {
        const { kernel } = createLab();
        const called: string[] = [];
        for (const one of registered)
          kernel.contribute({
            ...one,
            family: 'lab.sync',
            class: 'observer',
            handler: (_, own) => void called.push(byName(own)),
          });
        kernel.dispatchSync('lab.sync', labSample());
        const expected = [...list].sort(reference).map((one) => `${one.extensionId}/${one.id}`);
        expect(called).toEqual(expected);
        expect(kernel.plan('lab.sync').map(byName)).toEqual(expected);
      }),
    );
  });

  it('and so the outcome does not depend on the order of registration (§4.1)', () => {
    const shuffled = programs().chain((list) =>
      fc.tuple(fc.constant(list), fc.shuffledSubarray(list, { minLength: list.length })),
    );
    fc.assert(
      fc.property(shuffled, payloads, ([list, registered], payload) => {
        const outcomes = [list, registered].map((order) => {
          const { kernel } = createLab({ trace: true });
          install(kernel, 'lab.sync', order);
          return gist(kernel.dispatchSync('lab.sync', structuredClone(payload)));
        });
        expect(outcomes[1]).toEqual(outcomes[0]);
      }),
      { numRuns: 200 },
    );
  });

  it('is the same by one priority or by several that say the same (§4.1)', () => {
    fc.assert(
      fc.property(programs(), fc.nat(), payloads, (list, seed, payload) => {
        const at = seed % (list.length + 1);
        const outcomes = [() => 0, (_: unknown, i: number) => (i < at ? 1 : 0)].map(
          (priorityOf) => {
            const { kernel } = createLab({ trace: true });
            install(kernel, 'lab.sync', list, priorityOf);
            return gist(kernel.dispatchSync('lab.sync', structuredClone(payload)));
          },
        );
        expect(outcomes[1]).toEqual(outcomes[0]);
      }),
      { numRuns: 200 },
    );
  });
});
