import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { faultSample, faultStage } from '../support/faults.js';
import { type Bag, type LabCall, type LabKernel, labKernel } from '../support/kernel-lab.js';

const stage = faultStage();
const closedStage = faultStage({ onError: { mutator: 'closed' } });

/** Adds mutators a/one, b/one, ... in this order, one extension each. */
function mutators(kernel: LabKernel, patches: readonly (Bag | undefined)[]): void {
  for (const [i, patch] of patches.entries())
    kernel.contribute({
      family: stage.family,
      class: 'mutator',
      extensionId: String.fromCharCode(97 + i),
      id: 'one',
      handler: () => patch,
    });
}

async function patched(patches: readonly (Bag | undefined)[], generateCode = true) {
  const kernel = labKernel([stage], { generateCode });
  mutators(kernel, patches);
  return { kernel, outcome: await kernel.dispatch(stage.family, faultSample()) };
}

describe.each([true, false])(
  'fault 18: valid alone, not after another (generated code: %s)',
  (code) => {
    const fourMore = { list: ['2', '3', '4', '5'] };
    const longTail = { tail: 'x'.repeat(30) };

    it.each([
      ['append over maxItems', fourMore, 'list', ['one', '2', '3', '4', '5']],
      ['append-text over maxLength', longTail, 'tail', `tail ${'x'.repeat(30)}`],
    ])('%s -> the second is refused, with both names (§6.6)', async (_name, patch, field, kept) => {
      const alone = await patched([patch], code);
      expect(alone.outcome.failures).toEqual([]);
      expect((await patched([undefined, patch], code)).outcome.failures).toEqual([]);

      const { outcome } = await patched([patch, { ...patch, content: 'of the second' }], code);
      expect(outcome.failures).toMatchObject([
        { kind: 'bad-output', extensionId: 'b', contributionId: 'one', policy: 'open' },
      ]);
      expect(outcome.failures[0]?.message).toContain('a/one');
      expect(outcome.failures[0]?.message).toContain(`"${field}"`);
      expect(outcome.payload).toMatchObject({ [field]: kept, content: 'emitted' }); // §6.1
      expect(outcome.changes).toEqual([{ path: field, extensionId: 'a', contributionId: 'one' }]);
    });

    it('what did not write the field before is not named', async () => {
      const { outcome } = await patched([fourMore, { content: 'x' }, fourMore], code);
      expect(outcome.failures[0]?.message).toContain('a/one');
      expect(outcome.failures[0]?.message).not.toContain('b/one');
    });

    it('a third that fits goes on from the last good value', async () => {
      const { outcome } = await patched([fourMore, fourMore, { list: ['6'] }], code);
      expect(outcome.payload['list']).toEqual(['one', '2', '3', '4', '5', '6']);
    });
  },
);

describe('fault 19: two mutators on one path -> the conflict is in changes', () => {
  const by = (extensionId: string, path: string, overruled?: true) => ({
    path,
    extensionId,
    contributionId: 'one',
    ...(overruled && { overruled }),
  });

  it('the same field: both writes, in run order (§5.5)', async () => {
    const { outcome } = await patched([{ content: '1' }, { content: '2' }]);
    expect(outcome.payload['content']).toBe('2');
    expect(outcome.changes).toEqual([by('a', 'content'), by('b', 'content')]);
  });

  it('first-defined: the second shows as overruled (§6.2)', async () => {
    const { outcome } = await patched([{ first: '1' }, { first: '2' }, { first: '3' }]);
    expect(outcome.payload['first']).toBe('1');
    expect(outcome.changes).toEqual([
      by('a', 'first'),
      by('b', 'first', true),
      by('c', 'first', true),
    ]);
  });

  it('parent and child: a cleared record, and a key of it', async () => {
    const { outcome } = await patched([
      { tags: { color: 'blue' } },
      { tags: null },
      { tags: { size: 1 } },
    ]);
    expect(outcome.payload['tags']).toEqual({ size: 1 });
    expect(outcome.changes).toEqual([by('a', 'tags.color'), by('b', 'tags'), by('c', 'tags.size')]);
  });

  it('keys that are no names are quoted, so that no two paths read the same', async () => {
    const { outcome } = await patched([{ tags: { 'a.b': 1, '': 2, 'a"b': 3, __proto: 4 } }]);
    expect(outcome.changes.map(({ path }) => path)).toEqual([
      'tags["a.b"]',
      'tags[""]',
      'tags["a\\"b"]',
      'tags.__proto',
    ]);
  });

  const keys = fc.constantFrom('color', 'size', 'a.b', 'toString', '0');
  const tags = fc.dictionary(keys, fc.integer({ min: 0, max: 2 }), { noNullPrototype: true });
  const patches = fc.record(
    {
      content: fc.constantFrom('emitted', '1', '2'),
      tags: fc.option(tags),
      first: fc.constantFrom('emitted first', 'x'),
    },
    { requiredKeys: [], noNullPrototype: true },
  );

  it('P: changes are exactly the writes that changed something, by whom, in order', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(patches, { maxLength: 6 }), async (list) => {
        const { outcome } = await patched(list);
        const expected: string[] = [];
        let content: unknown = 'emitted';
        let record: Bag | null = { color: 'red' };
        let first: string | undefined;
        for (const [i, patch] of list.entries()) {
          const who = String.fromCharCode(97 + i);
          if (patch.content !== undefined && patch.content !== content) {
            content = patch.content;
            expected.push(`${who} content`);
          }
          if (patch.tags === null && record !== null) {
            record = null;
            expected.push(`${who} tags`);
          } else if (patch.tags) {
            // a record where there was none is a change, also when it has no keys
            if (record === null && Object.keys(patch.tags).length === 0)
              expected.push(`${who} tags`);
            for (const [key, value] of Object.entries(patch.tags)) {
              const had = record !== null && Object.hasOwn(record, key) && record[key] === value;
              if (!had) expected.push(`${who} tags:${key}`);
            }
            record = { ...record, ...patch.tags };
          }
          if (patch.first !== undefined) {
            if (first !== undefined) expected.push(`${who} first (overruled)`);
            else if ((first = patch.first) !== 'emitted first') expected.push(`${who} first`);
          }
        }
        const actual = outcome.changes.map(({ path, extensionId, overruled }) => {
          const inner = /^tags(?:\.(.+)|\["(.*)"\])$/.exec(path);
          const name = inner === null ? path : `tags:${inner[1] ?? inner[2] ?? ''}`;
          return `${extensionId} ${name}${overruled ? ' (overruled)' : ''}`;
        });
        expect([...actual].sort()).toEqual([...expected].sort());
        expect(actual.map(([who]) => who)).toEqual([...actual.map(([who]) => who)].sort());
        expect(outcome.payload).toMatchObject({ content, first: first ?? 'emitted first' });
        expect(outcome.payload['tags']).toEqual(record);
      }),
      { numRuns: 300 },
    );
  });
});

describe('fault 20: a trusted field from an untrusted extension -> refused as a whole, counted', () => {
  const grants = { b: ['fault.stage:secret'] };
  const run = async (patches: readonly Bag[], generateCode: boolean, closed = false) => {
    const kernel = labKernel([closed ? closedStage : stage], { grants, generateCode });
    mutators(kernel, patches);
    return { kernel, outcome: await kernel.dispatch(stage.family, faultSample()) };
  };

  it.each([true, false])('all or nothing, with generated code: %s (§6.7)', async (code) => {
    for (const patch of [
      { secret: 'x', content: 'x' },
      { content: 'x', tags: { size: 1 }, secret: 'x' },
    ]) {
      const { kernel, outcome } = await run([patch], code);
      expect(outcome.failures).toMatchObject([
        { kind: 'untrusted', extensionId: 'a', policy: 'open' },
      ]);
      expect(outcome.failures[0]?.message).toContain('"secret"');
      expect(outcome.payload).toBe(outcome.event['payload']);
      expect(outcome.changes).toEqual([]);
      expect(kernel.stats()).toMatchObject({ failedOpen: 1, failedClosed: 0 });
    }
  });

  it('also where the value would stay the same', async () => {
    const { outcome } = await run([{ secret: 'kept' }], true);
    expect(outcome.failures).toMatchObject([{ kind: 'untrusted' }]);
  });

  it('one that holds the grant may; what it says is not undone by one that does not', async () => {
    const { outcome } = await run(
      [{ secret: 'a' }, { secret: 'b', content: 'b' }, { secret: 'c' }],
      true,
    );
    expect(outcome.payload).toMatchObject({ secret: 'b', content: 'b' });
    expect(outcome.failures.map(({ kind, extensionId }) => `${extensionId} ${kind}`)).toEqual([
      'a untrusted',
      'c untrusted',
    ]);
  });

  it('where mutators fail closed, it ends the stage', async () => {
    const { kernel, outcome } = await run([{ secret: 'a' }], true, true);
    expect(outcome.status).toBe('failed');
    expect(kernel.stats()).toMatchObject({ failedClosed: 1, failed: 1 });
  });

  it('a grant is of one extension, not of one whose name begins alike', async () => {
    for (const extensionId of ['b2', 'B', 'b/one', 'constructor', '__proto__']) {
      const kernel = labKernel([stage], { grants });
      const handler = (_call: LabCall) => ({ secret: 'x' });
      kernel.contribute({ family: stage.family, class: 'mutator', extensionId, id: 'm', handler });
      const { failures } = await kernel.dispatch(stage.family, faultSample());
      expect(failures, extensionId).toMatchObject([{ kind: 'untrusted' }]);
    }
  });
});
