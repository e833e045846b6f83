import { Type } from 'typebox';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { createKernel } from '../../../../src/kernel/internal.js';
import {
  type ConfigSchema,
  defineExtension,
  fromTypebox,
  loadExtension,
} from '../../../../src/sdk/extension/index.js';

/** Loads an extension with a config schema, and gives what its setup saw, or what it was disabled with. */
async function read(config: ConfigSchema, given: unknown) {
  let seen: unknown;
  const extension = defineExtension({
    id: 'hours',
    config,
    setup(_, value) {
      seen = value;
    },
  });
  const result = await loadExtension(createKernel(), extension, { config: given });
  return result.status === 'loaded' ? { seen } : { error: result.error };
}

const zod = z.object({
  from: z.string().regex(/^\d\d:\d\d$/, 'must be HH:MM'),
  days: z.int().default(7),
});
const typebox = fromTypebox(
  Type.Object(
    {
      from: Type.String({ pattern: '^\\d\\d:\\d\\d$' }),
      days: Type.Integer({ default: 7, minimum: 1 }),
      kind: Type.Optional(Type.Enum(['a', 'b'])),
      places: Type.Optional(Type.Array(Type.Object({ name: Type.String() }))),
    },
    { additionalProperties: false },
  ),
);

describe('the configuration of an extension (§13)', () => {
  it.each([
    ['zod', zod],
    ['TypeBox', typebox],
  ])('is read by a %s schema, defaults applied', async (_, schema) => {
    const given = { from: '22:00' };
    expect(await read(schema, given)).toEqual({ seen: { from: '22:00', days: 7 } });
    expect(given).toEqual({ from: '22:00' });
  });

  it.each([
    ['zod', zod, { from: '22' }, 'hours: config.from: must be HH:MM', 'config.from'],
    [
      'zod',
      z.object({ 'a b': z.string('must be a text') }),
      {},
      'hours: config["a b"]: must be a text',
      'config["a b"]',
    ],
    [
      'zod',
      z.object({ l: z.array(z.object({ n: z.string('no text') })) }),
      { l: [{}] },
      'hours: config.l[0].n: no text',
      'config.l[0].n',
    ],
    [
      'TypeBox',
      typebox,
      { from: '22:00', days: 0 },
      'hours: config.days: must be >= 1',
      'config.days',
    ],
    [
      'TypeBox',
      typebox,
      { from: '22:00', kind: 'c' },
      'hours: config.kind: must be one of a, b',
      'config.kind',
    ],
    [
      'TypeBox',
      typebox,
      { from: '22:00', places: [{}] },
      'hours: config.places[0].name: is required',
      'config.places[0].name',
    ],
    [
      'TypeBox',
      typebox,
      { form: '22:00' },
      'hours: config.from: is required; config.form: is no setting; did you mean "from"?',
      'config.from',
    ],
    ['TypeBox', typebox, 'late', 'hours: config: must be object', 'config'],
  ])(
    'that is wrong is one line that names the path (%s)',
    async (_, schema, given, message, path) => {
      const { error } = await read(schema, given);
      expect(error).toMatchObject({ code: 'bad-config', message, details: { path } });
    },
  );

  it('that is absent is read as an empty one, so that the error names what is missing', async () => {
    expect((await read(typebox, undefined)).error?.message).toBe('hours: config.from: is required');
  });

  it('shows five problems and counts the rest', async () => {
    const schema = z.object(
      Object.fromEntries([...'abcdefg'].map((key) => [key, z.string('no text')])),
    );
    const { error } = await read(schema, {});
    expect(error?.message).toMatch(/config\.e: no text; and 2 more$/);
  });

  it('is refused where its schema answers asynchronously', async () => {
    const schema = zod.refine(async () => true);
    const { error } = await read(schema, { from: '22:00' });
    expect(error).toMatchObject({ code: 'bad-config-schema' });
    expect(error?.message).toMatch(/^hours: its config schema cannot be used: it /);
    const lazy: ConfigSchema = {
      '~standard': {
        version: 1,
        vendor: 'acme',
        validate: () => Promise.reject(new Error('later')),
      },
    };
    expect((await read(lazy, {})).error?.message).toBe(
      'hours: its config schema cannot be used: it answers asynchronously.',
    );
  });

  it('is refused where the extension takes none', async () => {
    const extension = defineExtension({ id: 'plain', setup: () => undefined });
    const kernel = createKernel();
    expect(await loadExtension(kernel, extension, { config: {} })).toMatchObject({
      status: 'loaded',
    });
    expect(await loadExtension(kernel, extension, { config: { from: 1 } })).toMatchObject({
      status: 'disabled',
      error: { message: 'plain: config: this extension takes none' },
    });
  });
});

describe('defineExtension (§13)', () => {
  const setup = (): void => undefined;

  it.each([
    [
      { id: 'a b', setup },
      'Extension "a b" is not well formed: its id must be a name without spaces or slashes.',
    ],
    [{ id: 'a', setup: 1 }, 'Extension "a" is not well formed: its setup must be a function.'],
    [{ id: 'a', setup, config: {} }, /its config must be a Standard Schema/],
  ])('refuses %j', (definition, message) => {
    // as from JavaScript, which no type stops
    expect(() => defineExtension(definition as never)).toThrow(message);
  });
});
