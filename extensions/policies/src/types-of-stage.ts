import type { Stage } from 'sluice';

/** A type as CEL names it, or the fields of an object. */
export type CelType = string | { readonly [field: string]: CelType };

/** A schema as far as types need it: JSON Schema. */
interface Schema {
  readonly type?: string | readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
}

/** The types of the fields of a stage's payload. A field of several types, or of any, is `dyn`: it is checked when it is read. */
export function payloadTypes({ payload }: Stage): Readonly<Record<string, CelType>> {
  const fields = Object.entries(payload.properties as Readonly<Record<string, Schema>>);
  return Object.fromEntries(fields.map(([name, schema]) => [name, typeOf(schema)]));
}

function typeOf(schema: Schema): CelType {
  const { type, properties, items } = schema;
  const literals = schema.enum ?? (schema.const === undefined ? undefined : [schema.const]);
  if (literals?.every((one) => typeof one === 'string')) return 'string';
  switch (type) {
    case 'string':
      return 'string';
    case 'boolean':
      return 'bool';
    case 'number':
    case 'integer':
      return 'double';
    case 'array': {
      const of = typeOf(items ?? {});
      return `list<${typeof of === 'string' ? of : 'map<string, dyn>'}>`;
    }
    case 'object':
      if (properties === undefined || Object.keys(properties).length === 0)
        return 'map<string, dyn>';
      return Object.fromEntries(
        Object.entries(properties).map(([name, field]) => [name, typeOf(field)]),
      );
    default:
      return 'dyn';
  }
}
