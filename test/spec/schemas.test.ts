import { Value } from 'typebox/value';
import { describe, expect, it } from 'vitest';
import { type CanonicalFamilies, canonicalStages } from '../../src/kernel/catalog/index.js';
import type { Stage } from '../../src/kernel/stage/stage.js';
import { samplePayload } from '../../src/testing/samples.js';
import { expectFresh, expectNoOthers } from '../support/generated.js';

const parts = ['payload', 'patch', 'annotations', 'selection'] as const;

/** A schema as its file holds it. */
interface SchemaFile {
  readonly stage: Stage;
  readonly part: (typeof parts)[number];
  readonly name: string;
  readonly json: Readonly<Record<string, unknown>>;
}

const files = canonicalStages.flatMap((stage) =>
  parts.flatMap((part): SchemaFile[] => {
    const schema = stage[part];
    if (schema === undefined) return [];
    const head = {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      $id: `urn:sluice:${stage.family}:${part}:${stage.version}`,
      title: `${stage.family} ${part}`,
    };
    const name = `${stage.family}.${part}.json`;
    return [{ stage, part, name, json: { ...head, ...schema } }];
  }),
);

describe('spec/schemas', () => {
  it.each(files)('$name is the schema that the kernel checks with', ({ name, json }) => {
    expectFresh(`spec/schemas/${name}`, `${JSON.stringify(json, null, 2)}\n`);
  });

  it('holds nothing else', () => {
    expectNoOthers(
      'spec/schemas',
      files.map(({ name }) => name),
    );
  });

  it('has a schema of every payload', () => {
    const payloads = files.filter(({ part }) => part === 'payload');
    expect(payloads).toHaveLength(canonicalStages.length);
  });

  it.each(files.filter(({ part }) => part === 'payload'))(
    '$name, read back, accepts the sample payload and no other field',
    ({ stage, json }) => {
      const schema = JSON.parse(JSON.stringify(json)) as object;
      const sample = samplePayload(stage.family as keyof CanonicalFamilies);
      expect(Value.Check(schema, sample)).toBe(true);
      expect(Value.Check(schema, { ...sample, noSuchField: 1 })).toBe(false);
    },
  );
});
