import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { createKernel, defineStage, type Stage } from '../../../src/kernel/internal.js';
import type { StandardSchema } from '../../../src/kernel/schema/standard.js';

const bill = z.strictObject({
  amountCents: z.int().min(0),
  note: z.string().max(8),
  tags: z.array(z.string()),
  extra: z.record(z.string(), z.string()).nullable(),
});
const sample = { amountCents: 1200, note: 'tea', tags: ['a'], extra: null };

const row = {
  family: 'acme.billing.checking',
  classes: ['observer', 'mutator', 'veto'],
  mode: 'sequential',
  payload: bill,
  sample,
  laws: { amountCents: 'replace', note: 'append-text', tags: 'append', extra: 'merge-keys' },
  cancelCodes: ['over-budget'],
} as const;

type Row = Readonly<Record<string, unknown>>;

/** Defines a row as JavaScript can write it, without the compiler. */
const define = (given: Row): Stage => defineStage(given as never) as unknown as Stage;

/** A schema that answers as it is told, and counts how often it is asked. */
function answering(answer: (value: unknown) => unknown) {
  let asked = 0;
  const validate = (value: unknown) => {
    asked++;
    return answer(value);
  };
  const schema = {
    '~standard': { version: 1, vendor: 'test', validate },
  } as StandardSchema<object>;
  return { schema, asked: () => asked };
}

/** Dispatches a sample to one mutator that returns a patch. */
async function patched(stage: Stage, patch: unknown, payload: object = { ...sample }) {
  const kernel = createKernel({ stages: [stage] });
  kernel.contribute({
    family: stage.family,
    class: 'mutator',
    extensionId: 'acme',
    id: 'edit',
    handler: () => patch,
  } as never);
  return kernel.dispatch(stage.family as never, payload as never);
}

describe('a stage whose payload has a Standard Schema (§2.7)', () => {
  const stage = defineStage(row) as unknown as Stage;

  it('takes patches of the fields that have a law, by that law', async () => {
    const outcome = await patched(stage, { note: '!', tags: ['b'], extra: { k: 'v' } });
    expect(outcome).toMatchObject({
      status: 'passed',
      payload: { note: 'tea\n\n!', tags: ['a', 'b'], extra: { k: 'v' } },
      failures: [],
    });
  });

  it.each<[string, Row, string]>([
    ['a value that the schema refuses', { amountCents: -1 }, '"/amountCents" would not fit'],
    ['a text that a law made too long', { note: 'biscuits' }, '"/note" would not fit'],
    ['a value that its law cannot join', { tags: 'b' }, '"tags": must match a schema in anyOf'],
  ])('refuses %s, and the whole patch with it', async (_, patch, problem) => {
    const outcome = await patched(stage, { extra: { k: 'v' }, ...patch });
    expect(outcome.payload).toEqual(sample);
    expect(outcome.failures).toMatchObject([{ kind: 'bad-output' }]);
    expect(String(outcome.failures[0]?.error)).toContain(problem);
  });

  it('refuses a key without a law before it asks the schema', async () => {
    const { schema, asked } = answering((value) => ({ value }));
    const closed = define({ ...row, payload: schema, laws: { note: 'replace' } });
    const before = asked();
    const outcome = await patched(closed, { note: 'x', amountCents: 1 });
    expect(asked()).toBe(before);
    expect(String(outcome.failures[0]?.error)).toContain('"amountCents" is not declared');
  });

  it('takes two fields that only fit together', async () => {
    const both = z
      .object({ from: z.number(), to: z.number() })
      .refine(({ from, to }) => from <= to, 'from is after to');
    const span = define({
      ...row,
      payload: both,
      sample: { from: 1, to: 2 },
      laws: { from: 'replace', to: 'replace' },
    });
    expect(await patched(span, { from: 5, to: 6 }, { from: 1, to: 2 })).toMatchObject({
      payload: { from: 5, to: 6 },
    });
    const outcome = await patched(span, { from: 5 }, { from: 1, to: 2 });
    expect(String(outcome.failures[0]?.error)).toContain('from is after to');
  });

  it('ignores the value that the schema returns', async () => {
    const { schema } = answering((value) => ({
      value: (value as Row)['note'] === 'tea' ? value : { note: 'changed' },
    }));
    const other = define({ ...row, payload: schema });
    expect(await patched(other, { note: '!' })).toMatchObject({ payload: { note: 'tea\n\n!' } });
  });

  it('checks a payload from outside, and names the place', () => {
    const kernel = createKernel({ stages: [stage] });
    const parse = (payload: unknown) => kernel.parsePayload(stage.family as never, payload);
    expect(parse(sample)).toEqual(sample);
    expect(() => parse({ ...sample, tags: [1] })).toThrow(
      expect.objectContaining({
        code: 'bad-payload',
        details: expect.objectContaining({ path: '/tags/0' }),
      }),
    );
    const { schema } = answering(() => Promise.reject(new Error('late')));
    const lazy = { ...stage, standard: schema } as Stage;
    const other = createKernel({ stages: [lazy] });
    expect(() => other.parsePayload(stage.family as never, sample)).toThrow(
      'answers asynchronously',
    );
  });

  it('may be matched by the fields that its schema tells of as JSON Schema', () => {
    const told = define({ ...row, laws: {}, classes: ['observer', 'veto'] });
    const kernel = createKernel({ stages: [told] });
    const contribute = (match: object) =>
      kernel.contribute({
        family: told.family,
        class: 'veto',
        extensionId: 'acme',
        id: 'judge',
        match,
        handler: () => undefined,
      } as never);
    expect(() => contribute({ note: 'tea' })).not.toThrow();
    expect(() => contribute({ tags: 'a' })).toThrow(expect.objectContaining({ code: 'bad-match' }));
  });

  it.each<[string, Row, string]>([
    ['no sample', { sample: undefined }, 'has a sample'],
    ['a sample that does not fit', { sample: { ...sample, note: 7 } }, 'does not fit at /note'],
    ['a patch schema', { patch: { type: 'object', properties: {} } }, 'and no patch schema'],
    [
      'a schema that coerces',
      { payload: bill.extend({ note: z.string().trim() }), sample: { ...sample, note: ' ' } },
      'changes the sample',
    ],
    [
      'a schema that fills in',
      { payload: bill.extend({ n: z.number().default(1) }) },
      'changes the sample',
    ],
    [
      'a schema that waits',
      { payload: answering(() => Promise.resolve({})).schema },
      'answers asynchronously',
    ],
    [
      'a schema that throws',
      {
        payload: answering(() => {
          throw new Error('no');
        }).schema,
      },
      'its schema threw: no',
    ],
    [
      'a schema without a verdict',
      { payload: answering(() => undefined).schema },
      'gives no verdict',
    ],
    ['a law that is none', { laws: { note: 'shuffle' } }, 'which is no patch law'],
  ])('with %s is refused when it is defined', (_, over, problem) => {
    expect(() => define({ ...row, ...over })).toThrow(
      expect.objectContaining({
        code: 'bad-stage',
        details: { family: row.family, problem: expect.stringContaining(problem) as string },
      }),
    );
  });

  it('has the types of its schema, and a patch of its laws alone', () => {
    const typed = defineStage({ ...row, laws: { note: 'replace' } });
    const payload: { readonly amountCents: number } = {} as (typeof typed)['payload']['~named'];
    const patch: NonNullable<(typeof typed)['patch']>['~named'] = { note: 'x' };
    // @ts-expect-error it has no law
    patch.amountCents = 1;
    // @ts-expect-error it is no field
    defineStage({ ...row, laws: { nothing: 'replace' } });
    expect([payload, patch]).toHaveLength(2);
  });
});
