import { describe, expect, it } from 'vitest';
import { cancel, type Outcome } from '../../src/kernel/internal.js';
import { contributor, createLab, type LabCall } from '../support/kernel-lab.js';
import { labSample } from '../support/kernel-stages.js';

const families = ['lab.sync', 'lab.sequential'] as const;

/** A write as sloppy code makes it: nothing is thrown at a frozen object. */
const sloppy = (body: string): ((payload: object) => void) =>
  new Function('payload', body) as (payload: object) => void; // its text is a test's own

/** Writes that show on the object. */
const writes: Readonly<Record<string, (payload: object) => void>> = {
  'sets a field in sloppy code': sloppy("payload.title = 'planted'"),
  'sets a field in strict code': (payload) => {
    (payload as { title: string }).title = 'planted';
  },
  'adds a field': sloppy("payload.planted = 'planted'"),
  'deletes a field': sloppy('delete payload.title'),
  'deletes one field and adds another': sloppy('delete payload.title; payload.planted = undefined'),
  'redefines a field': (payload) =>
    void Object.defineProperty(payload, 'title', { value: 'planted' }),
  'makes a field an accessor': (payload) =>
    void Object.defineProperty(payload, 'title', { get: () => 'planted' }),
  'hides a field': (payload) => void Object.defineProperty(payload, 'title', { enumerable: false }),
  'sets the prototype': (payload) => void Object.setPrototypeOf(payload, { planted: true }),
  'sets a proxy as the prototype': (payload) =>
    void Object.setPrototypeOf(payload, new Proxy({}, { get: () => 'planted' })),
  'assigns through a proxy': (payload) => {
    (new Proxy(payload, {}) as { title: string }).title = 'planted';
  },
};

/** Writes that nobody can see: nothing is told of them. */
const hidden: Readonly<Record<string, (payload: object) => void>> = {
  'adds a symbol': (payload) => void Reflect.set(payload, Symbol('planted'), 'planted'),
  'adds a hidden property': (payload) =>
    void Object.defineProperty(payload, 'planted', { value: true }),
  'freezes it': (payload) => void Object.freeze(payload),
};

/** The payload of a lab's outcome, which no family types. */
const bagOf = (outcome: Outcome): Readonly<Record<string, unknown>> =>
  outcome.payload as unknown as Readonly<Record<string, unknown>>;
const titleOf = (outcome: Outcome): unknown => bagOf(outcome).title;
const countOf = (outcome: Outcome): unknown => bagOf(outcome).count;

interface Seen {
  readonly outcome: Outcome;
  readonly seen: string[];
}

/** A mutator, a handler that writes, and three that look. */
async function attacked(
  family: string,
  write: (call: LabCall) => unknown,
  options: { readonly validate?: 'always' } = {},
): Promise<Seen> {
  const { kernel } = createLab(options);
  const add = contributor(kernel, family);
  const seen: string[] = [];
  const look = ({ payload }: LabCall): undefined => {
    seen.push(
      JSON.stringify([
        payload,
        Reflect.ownKeys(payload).map(String),
        Reflect.get(payload, 'planted'),
        Object.getPrototypeOf(payload) === Object.prototype,
      ]),
    );
  };
  add('mutator', 'a', () => ({ title: 'patched' }));
  add('observer', 'b', write);
  for (const id of ['c', 'd', 'e']) add('observer', id, look);
  const outcome = await kernel.run(family, labSample());
  look({ payload: bagOf(outcome) } as LabCall);
  return { outcome, seen };
}

describe('a handler that writes to the payload of another’s patch', () => {
  for (const family of families) {
    it.each(Object.entries(writes))(
      `${family}: %s, which nobody sees, and is told (§5.7)`,
      async (_, write) => {
        const clean = await attacked(family, () => undefined);
        const { outcome, seen } = await attacked(family, ({ payload }) => write(payload));
        expect(seen).toEqual(clean.seen);
        expect(outcome.failures).toMatchObject([
          { contributionId: 'b', kind: 'wrote-payload', policy: 'open' },
        ]);
        expect(outcome.changes.map(({ contributionId }) => contributionId)).toEqual(['a']);
      },
    );

    it.each(Object.entries(hidden))(`${family}: %s, which nobody sees (§5.7)`, async (_, write) => {
      const clean = await attacked(family, () => undefined);
      const { seen } = await attacked(family, ({ payload }) => write(payload));
      expect(seen).toEqual(clean.seen);
    });

    it(`${family}: fails at the write with validate: always (§1.5)`, async () => {
      const { outcome } = await attacked(
        family,
        ({ payload }) => {
          (payload as { title: string }).title = 'planted';
        },
        { validate: 'always' },
      );
      expect(outcome.failures).toMatchObject([{ contributionId: 'b', kind: 'threw' }]);
    });

    it(`${family}: after it returned, from a microtask and from the next handler (§5.7)`, async () => {
      const { kernel } = createLab();
      const add = contributor(kernel, family);
      const plant = sloppy("payload.title = 'planted'");
      let again = (): void => undefined;
      const seen: unknown[] = [];
      add('mutator', 'a', () => ({ title: 'patched' }));
      add('observer', 'b', (call) => {
        const { payload } = call;
        again = () => {
          plant(payload);
          plant(call.payload);
        };
        queueMicrotask(again);
      });
      add('observer', 'c', (call) => {
        again();
        seen.push(call.payload.title);
        again();
        seen.push(call.payload.title);
      });
      add('mutator', 'd', ({ payload }) => {
        again();
        return { count: String(payload.title).length };
      });
      const outcome = await kernel.run(family, labSample());
      again();
      expect([...seen, titleOf(outcome), countOf(outcome)]).toEqual([
        ...['patched', 'patched', 'patched'],
        7,
      ]);
      expect(outcome.failures).toEqual([]);
    });

    it(`${family}: in the middle, around a dispatch of its own (§5.7, §10.5)`, async () => {
      const { kernel } = createLab();
      const add = contributor(kernel, family);
      const inner: unknown[] = [];
      contributor(kernel, 'lab.sibling')('observer', 'i', ({ payload }) => {
        inner.push(payload.title);
      });
      add('mutator', 'a', () => ({ title: 'patched' }));
      add('observer', 'b', (call, own) => {
        own.dispatch(call, 'lab.sibling', call.payload);
      });
      add('observer', 'c', ({ payload }) => {
        inner.push(payload.title);
      });
      const outcome = await kernel.run(family, labSample());
      expect([...inner, titleOf(outcome)]).toEqual(['patched', 'patched', 'patched']);
      expect(outcome.failures).toEqual([]);
    });
  }

  it('loses its patch, and stands with its cancel (§5.7)', () => {
    const { kernel } = createLab();
    const add = contributor(kernel, 'lab.sync');
    const plant = sloppy("payload.title = 'planted'");
    add('mutator', 'a', () => ({ title: 'patched' }));
    add('mutator', 'b', ({ payload }) => {
      plant(payload);
      return { count: 2 };
    });
    add('mutator', 'c', () => ({ tags: ['t'] }));
    add('veto', 'd', ({ payload }) => {
      plant(payload);
      return cancel('policy');
    });
    const outcome = kernel.dispatchSync('lab.sync', labSample());
    expect(outcome.status).toBe('cancelled');
    expect(outcome.changes.map(({ path }) => path)).toEqual(['title', 'tags']);
    expect(outcome.failures.map(({ contributionId, kind }) => `${contributionId} ${kind}`)).toEqual(
      ['b wrote-payload', 'd wrote-payload'],
    );
  });

  it('fails the stage where its policy is closed (§5.7)', () => {
    const { kernel } = createLab();
    const add = contributor(kernel, 'lab.sync');
    add('mutator', 'a', () => ({ title: 'patched' }));
    const handler = ({ payload }: LabCall): void => sloppy("payload.title = 'planted'")(payload);
    add('veto', 'b', handler, { failClosed: true });
    const outcome = kernel.dispatchSync('lab.sync', labSample());
    expect([outcome.status, outcome.failures.map(({ kind }) => kind)]).toEqual([
      'failed',
      ['wrote-payload'],
    ]);
  });

  it('while it is waited for, and after it was given up (§5.7, §10.2)', async () => {
    const { kernel, clock } = createLab();
    const add = contributor(kernel, 'lab.sequential');
    const plant = sloppy("payload.title = 'planted'");
    const kept: LabCall[] = [];
    const seen: unknown[] = [];
    add('mutator', 'a', () => ({ title: 'patched' }));
    add('observer', 'b', async ({ payload }) => {
      await Promise.resolve();
      plant(payload);
    });
    add('observer', 'c', (call) => {
      kept.push(call);
      return new Promise(() => undefined);
    });
    add('mutator', 'd', () => ({ title: 'again' }));
    add('observer', 'e', async (call) => {
      for (const one of kept) {
        seen.push(one.payload.title);
        plant(one.payload);
      }
      await Promise.resolve();
      seen.push(call.payload.title);
    });
    const dispatched = kernel.dispatch('lab.sequential', labSample());
    await clock.advance(400);
    const outcome = await dispatched;
    expect([...seen, titleOf(outcome)]).toEqual(['patched', 'again', 'again']);
    expect(outcome.failures.map(({ contributionId, kind }) => `${contributionId} ${kind}`)).toEqual(
      ['b wrote-payload', 'c timed-out'],
    );
  });

  it('through a call that it kept and had not read (§5.7)', async () => {
    for (const [reads, writer] of [
      ['before', 'kept before the patch'],
      ['after', 'kept before the patch'],
      ['before', 'kept after the patch'],
      ['after', 'kept after the patch'],
      ['never', 'kept after the patch'],
    ] as const) {
      const { kernel } = createLab();
      const add = contributor(kernel, 'lab.sequential');
      const plant = sloppy("payload.title = 'planted'");
      const kept = new Map<string, LabCall>();
      const seen: unknown[] = [];
      add('observer', 'a', (call) => void kept.set('kept before the patch', call));
      add('mutator', 'b', () => ({ title: 'patched' }));
      add('observer', 'c', (call) => void kept.set('kept after the patch', call));
      add('observer', 'd', async (call) => {
        if (reads === 'before') seen.push(call.payload.title);
        await Promise.resolve();
        const one = kept.get(writer);
        if (one !== undefined) plant(one.payload);
        if (reads !== 'never') seen.push(call.payload.title);
      });
      add('observer', 'e', ({ payload }) => void seen.push(payload.title));
      const outcome = await kernel.run('lab.sequential', labSample());
      expect(new Set([...seen, titleOf(outcome)])).toEqual(new Set(['patched']));
      expect(outcome.failures).toEqual([]);
    }
  });

  it('whose accessor throws when it is compared fails as if it had thrown (§5.7)', async () => {
    const { outcome } = await attacked('lab.sync', ({ payload }) => {
      Object.defineProperty(payload, 'title', {
        get: () => {
          throw new Error('read me not');
        },
        enumerable: true,
      });
    });
    expect(outcome.failures).toMatchObject([{ contributionId: 'b', kind: 'threw' }]);
    expect(titleOf(outcome)).toBe('patched');
  });
});
