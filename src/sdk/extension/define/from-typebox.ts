import { didYouMean } from 'sluice-kernel/internal';
import type { Static, TObject } from 'typebox';
import { Errors } from 'typebox/schema';
import { Value } from 'typebox/value';
import type { ConfigIssue, ConfigSchema } from './config-schema.js';

/** One error as TypeBox reports it. */
type SchemaError = ReturnType<typeof Value.Errors>[number];

/**
 * Makes a config schema of a TypeBox object. Defaults are applied; the value that was given is not changed. With
 * `additionalProperties: false` a surplus key is refused, and the nearest declared one is named.
 *
 * @example
 * defineExtension({
 *   id: 'greeter',
 *   config: fromTypebox(Type.Object({ greeting: Type.String({ default: 'Hello' }) })),
 *   setup(api, { greeting }) {},
 * });
 */
export function fromTypebox<Schema extends TObject>(schema: Schema): ConfigSchema<Static<Schema>> {
  const declared = Object.keys(schema.properties);
  return {
    '~standard': {
      version: 1,
      vendor: 'typebox',
      validate(given) {
        const value = Value.Default(schema, Value.Clone(given));
        if (Value.Check(schema, value)) return { value };
        return {
          issues: Value.Errors(schema, value).flatMap((error) => issuesOf(error, declared)),
        };
      },
    },
  };
}

/** Turns an error of TypeBox into issues; the message of a surplus key names the nearest declared one. */
function issuesOf(error: SchemaError, declared: readonly string[]): ConfigIssue[] {
  const path = error.instancePath.split('/').slice(1).map(unescaped);
  switch (error.keyword) {
    case 'boolean': // says of a surplus key what `additionalProperties` says better
      return [];
    case 'required':
      return error.params.requiredProperties.map((name) => ({
        path: [...path, name],
        message: 'is required',
      }));
    case 'additionalProperties':
      return error.params.additionalProperties.map((name) => ({
        path: [...path, name],
        message: `is no setting${didYouMean(name, path.length === 0 ? declared : [])}`,
      }));
    case 'enum':
      return [{ path, message: `must be one of ${error.params.allowedValues.join(', ')}` }];
    default:
      return [{ path, message: error.message }];
  }
}

/** Turns a segment of a JSON pointer into the key that it stands for. */
function unescaped(segment: string): string {
  return segment.replaceAll('~1', '/').replaceAll('~0', '~');
}

/**
 * Makes a config schema of a plain JSON Schema, as manifests hold them (drafts 3 to 2020-12, `$ref` within the schema
 * included). The value is judged and handed on as it is: a `default` is a note to people there.
 *
 * @example
 * const schema = fromJsonSchema({ type: 'object', additionalProperties: false, properties: { url: { type: 'string' } } });
 */
export function fromJsonSchema(
  schema: Readonly<Record<string, unknown>>,
): ConfigSchema<Readonly<Record<string, unknown>>> {
  const { properties } = schema;
  const declared = typeof properties === 'object' && properties !== null ? properties : {};
  return {
    '~standard': {
      version: 1,
      vendor: 'json-schema',
      validate(value) {
        const [isFine, errors] = Errors(schema, value);
        if (!isFine)
          return { issues: errors.flatMap((error) => issuesOf(error, Object.keys(declared))) };
        if (typeof value === 'object' && value !== null) return { value: { ...value } };
        return { issues: [{ message: 'must be object' }] };
      },
    },
  };
}
