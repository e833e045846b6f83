import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cancel, select } from '../../src/kernel/internal.js';
import { createLab } from '../support/kernel-lab.js';
import { install, type Program, payloads, programs } from '../support/kernel-programs.js';

const stopper: Program = {
  id: 'stop',
  class: 'veto',
  returns: () => cancel('policy', { text: 'stop' }),
  options: {},
};

/** Handlers that pass, so that the stopper is reached. */
const before = programs(['augmenter', 'mutator', 'resolver'], 4);

describe('a cancel', () => {
  it.each(['lab.sequential', 'lab.sync', 'lab.sequential-closed', 'lab.sync-closed'])(
    'is never undone on %s: by a later or lower handler, an error or a selection (§8.2)',
    async (family) => {
      await fc.assert(
        fc.asyncProperty(before, programs(), payloads, async (first, later, payload) => {
          const { kernel } = createLab();
          const benign = family.endsWith('closed') ? [] : first;
          let calledLater = 0;
          const list = [
            ...benign,
            stopper,
            ...later.map((one) => ({ ...one, id: `later-${one.id}` })),
          ];
          install(
            kernel,
            family,
            list,
            (_, i) => -i,
            (handler, program) => (call, own) => {
              if (program.id.startsWith('later-')) calledLater++;
              return handler(call, own);
            },
          );
          const outcome = await kernel.run(family, structuredClone(payload));
          expect(outcome.status).toBe('cancelled');
          expect(outcome.status === 'cancelled' && outcome.cancel.contributionId).toBe('stop');
          expect(calledLater).toBe(0);
          expect(outcome.skipped.map(({ contributionId, why }) => [contributionId, why])).toEqual(
            later.map(({ id }) => [`later-${id}`, 'after-cancel']),
          );
          expect(kernel.stats().cancelled).toBe(1);
        }),
        { numRuns: 60 },
      );
    },
  );

  const hostile: readonly (readonly [string, object])[] = [
    ['details', Object.defineProperty({ kind: 'cancel', code: 'policy' }, 'details', throwing())],
    ['text', Object.defineProperty({ kind: 'cancel', code: 'policy' }, 'text', throwing())],
    ['code', { kind: 'cancel', code: Object.create(null) as object }],
  ];

  it.each(hostile)(
    'stands also where its %s cannot be read, or is none at all (§8.5)',
    (_, result) => {
      const { kernel } = createLab();
      const called: string[] = [];
      const make = (id: string, name: 'veto' | 'resolver', value: unknown): void =>
        void kernel.contribute({
          family: 'lab.sync',
          class: name,
          extensionId: 'x',
          id,
          handler: () => {
            called.push(id);
            return value;
          },
        });
      make('a', 'veto', result);
      make('b', 'resolver', select({ to: 'b' }));
      const outcome = kernel.dispatchSync('lab.sync', { title: 'hello' });
      const shown = outcome.status === 'cancelled' ? outcome.cancel : undefined;
      expect([outcome.status, shown?.contributionId, called]).toEqual(['cancelled', 'a', ['a']]);
    },
  );
});

function throwing(): PropertyDescriptor {
  return {
    enumerable: true,
    get: () => {
      throw new Error('not to be read');
    },
  };
}
