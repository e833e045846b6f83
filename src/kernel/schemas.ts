// The JSON Schemas of the canonical families, with the descriptions of their fields: `sluice-kernel/schemas`.

import { canonicalStages } from './catalog/index.js';
import type { Schema } from './schema/schema.js';
import type { StandardSchema } from './schema/standard.js';

/** The JSON Schemas of a family, its purpose, and when a host dispatches it. */
interface FamilySchemas {
  readonly purpose: string;
  readonly emittedWhen: string;
  readonly payload: object;
  readonly patch?: object;
  readonly annotations?: object;
  readonly selection?: object;
}

/**
 * The JSON Schemas of the canonical families, by family.
 *
 * @example
 * schemas['agent.tool.calling']?.payload; // { $schema, $id, title, type: 'object', ... }
 */
export const schemas: Readonly<Record<string, FamilySchemas>> = Object.fromEntries(
  canonicalStages.map(
    ({ family, version, purpose, emittedWhen, payload, patch, annotations, selection }) => {
      const parts = Object.entries({ payload, patch, annotations, selection });
      const documents = parts.flatMap(
        ([part, schema]: [string, Schema | StandardSchema | undefined]) => {
          if (schema === undefined) return [];
          const head = {
            $schema: 'https://json-schema.org/draft/2020-12/schema',
            $id: `urn:sluice:${family}:${part}:${version}`,
            title: `${family} ${part}`,
          };
          return [[part, { ...head, ...schema }] as const];
        },
      );
      const written = { purpose, emittedWhen, ...Object.fromEntries(documents) };
      return [family, written as unknown as FamilySchemas]; // each row has a payload
    },
  ),
);
