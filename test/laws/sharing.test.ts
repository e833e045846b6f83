import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createLab, type LabHandler } from '../support/kernel-lab.js';
import { install, type Program, payloads, programs } from '../support/kernel-programs.js';

type Bag = Readonly<Record<string, unknown>>;

/** Notes the payload each handler sees. */
function recording(versions: Bag[]): (handler: LabHandler, program: Program) => LabHandler {
  return (handler) => (call, own) => {
    versions.push(call.payload);
    return handler(call, own);
  };
}

/** `headers.x` or `headers["x-y"]` as its parts. */
function parts(path: string): readonly [string, string | undefined] {
  const [, field = '', dotted, quoted] = /^([^.[]+)(?:\.(.+)|\[(.+)\])?$/.exec(path) ?? [];
  return [field, quoted === undefined ? dotted : (JSON.parse(quoted) as string)];
}

function at(value: unknown, key: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, key)
    ? (value as Bag)[key]
    : undefined;
}

describe('what patches leave', () => {
  it('shares every part that no patch wrote, and never writes the emitted payload (§6.5)', () => {
    fc.assert(
      fc.property(programs(['mutator']), payloads, (list, payload) => {
        const { kernel } = createLab();
        install(kernel, 'lab.sync', list);
        const emitted = structuredClone(payload);
        const parts = { ...emitted };
        const outcome = kernel.dispatchSync('lab.sync', emitted);
        expect(outcome.event.payload).toBe(emitted);
        expect(emitted).toEqual(payload);
        for (const key of Object.keys(parts)) expect(emitted[key]).toBe(parts[key]);
        const written = new Set(outcome.changes.map(({ path }) => path.replace(/[.[].*$/, '')));
        const final = outcome.payload as Bag;
        for (const key of Object.keys(emitted))
          if (!written.has(key)) expect(final[key]).toBe(emitted[key]);
        if (written.size === 0) expect(final).toBe(emitted);
      }),
      { numRuns: 300 },
    );
  });

  it('is frozen where two can read it: the outcome’s, the emitted one, and every part (§1.5, §6.4)', () => {
    fc.assert(
      fc.property(programs(['mutator']), payloads, (list, payload) => {
        const { kernel } = createLab();
        const versions: Bag[] = [];
        install(kernel, 'lab.sync', list, () => 0, recording(versions));
        const emitted = structuredClone(payload);
        const outcome = kernel.dispatchSync('lab.sync', emitted);
        if (list.length === 0) return;
        expect(Object.isFrozen(emitted)).toBe(true);
        expect(Object.isFrozen(outcome.payload)).toBe(true);
        const readers = new Map<Bag, number>();
        for (const version of versions) readers.set(version, (readers.get(version) ?? 0) + 1);
        for (const [version, count] of readers) {
          if (count > 1) expect(Object.isFrozen(version)).toBe(true);
          if (version !== emitted) expect(version).not.toBe(outcome.payload);
          for (const value of Object.values(version)) expect(Object.isFrozen(value)).toBe(true);
        }
      }),
    );
  });

  it('is frozen for each reader with validate: always (§1.5)', () => {
    fc.assert(
      fc.property(programs(['mutator']), payloads, (list, payload) => {
        const { kernel } = createLab({ validate: 'always' });
        const versions: Bag[] = [];
        install(kernel, 'lab.sync', list, () => 0, recording(versions));
        kernel.dispatchSync('lab.sync', structuredClone(payload));
        for (const version of versions) expect(Object.isFrozen(version)).toBe(true);
      }),
      { numRuns: 50 },
    );
  });
});

describe('changes', () => {
  it('replayed over the emitted payload explain the final one, write by write (§5.5)', () => {
    fc.assert(
      fc.property(programs(['mutator']), payloads, (list, payload) => {
        const { kernel } = createLab();
        const seen: Bag[] = [];
        install(kernel, 'lab.sync', list, () => 0, recording(seen));
        const outcome = kernel.dispatchSync('lab.sync', structuredClone(payload));
        const versions = [...seen.slice(1), outcome.payload as Bag];
        const replayed: Record<string, unknown> = { ...outcome.event.payload };
        for (const change of outcome.changes) {
          if (change.overruled === true) continue;
          const left = versions[list.findIndex(({ id }) => id === change.contributionId)] ?? {};
          const [field, key] = parts(change.path);
          const before = key === undefined ? replayed[field] : at(replayed[field], key);
          const after = key === undefined ? left[field] : at(left[field], key);
          expect(after).not.toBe(before); // a write that changes nothing is no change
          const old = replayed[field];
          replayed[field] =
            key === undefined ? after : { ...(typeof old === 'object' ? old : {}), [key]: after };
        }
        expect(replayed).toEqual(outcome.payload);
      }),
      { numRuns: 300 },
    );
  });

  it('stand in the order of their writers (§5.5)', () => {
    fc.assert(
      fc.property(programs(['mutator']), payloads, (list, payload) => {
        const { kernel } = createLab();
        install(kernel, 'lab.sync', list);
        const outcome = kernel.dispatchSync('lab.sync', structuredClone(payload));
        const order = outcome.changes.map((one) =>
          list.findIndex(({ id }) => id === one.contributionId),
        );
        expect(order).toEqual([...order].sort((left, right) => left - right));
      }),
    );
  });

  it('cannot be changed afterwards by a handler that kept its patch (§5.5, §6.4)', () => {
    const { kernel } = createLab();
    const patch = { title: 'new', body: { lines: ['one'] } };
    kernel.contribute({
      family: 'lab.sync',
      class: 'mutator',
      extensionId: 'x',
      id: 'm',
      handler: () => patch,
    });
    const outcome = kernel.dispatchSync('lab.sync', { title: 'hello' });
    patch.title = 'changed';
    try {
      patch.body.lines.push('two');
    } catch {
      // frozen in place, where it is not a copy that was taken
    }
    expect(outcome.payload).toEqual({ title: 'new', body: { lines: ['one'] } });
    expect(outcome.changes.map(({ path }) => path)).toEqual(['title', 'body']);
  });
});
