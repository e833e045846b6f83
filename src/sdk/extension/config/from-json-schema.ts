import { didYouMean } from 'sluice-kernel/internal';
import { Errors } from 'typebox/schema';
import type { ConfigIssue, ConfigSchema } from './config-schema.js';

/** One error as TypeBox reports it. */
type SchemaError = ReturnType<typeof Errors>[1][number];

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
  const declared = Object.keys(Object(schema['properties']));
  return {
    '~standard': {
      version: 1,
      vendor: 'json-schema',
      validate(value) {
        const [isFine, errors] = Errors(schema, value);
        if (!isFine) return { issues: errors.flatMap((error) => issuesOf(error, declared)) };
        if (typeof value === 'object' && value !== null) return { value: { ...value } };
        return { issues: [{ message: 'must be object' }] };
      },
    },
  };
}

/** Turns an error of TypeBox into issues; the message of a surplus key names the nearest declared one. */
export function issuesOf(error: SchemaError, declared: readonly string[]): ConfigIssue[] {
  const segments = error.instancePath.split('/').slice(1); // of a JSON pointer
  const path = segments.map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~'));
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
