import { Errors } from 'typebox/schema';
import type { ConfigSchema } from './config-schema.js';
import { issuesOf } from './from-typebox.js';

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
