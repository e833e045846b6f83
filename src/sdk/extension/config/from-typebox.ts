import type { Static, TObject } from 'typebox';
import { Value } from 'typebox/value';
import type { ConfigSchema } from './config-schema.js';
import { issuesOf } from './from-json-schema.js';

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
