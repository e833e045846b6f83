import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { configSchema } from '../../src/host/config/schema.js';
import * as agentEnd from '../../src/kernel/catalog/agent-end.js';
import * as agentStart from '../../src/kernel/catalog/agent-start.js';
import { canonicalStages } from '../../src/kernel/catalog/index.js';
import * as annotations from '../../src/kernel/catalog/pieces/annotations.js';
import * as delivery from '../../src/kernel/catalog/pieces/delivery.js';
import * as message from '../../src/kernel/catalog/pieces/message.js';
import * as place from '../../src/kernel/catalog/pieces/place.js';
import * as run from '../../src/kernel/catalog/pieces/run.js';
import * as routing from '../../src/kernel/catalog/routing.js';
import * as subagent from '../../src/kernel/catalog/subagent.js';
import type { Schema } from '../../src/kernel/schema/schema.js';
import { interfaceOf } from './config-type.js';
import { docstring } from './docstring.js';
import { isNode, nameOf, nodesOf, parse } from './syntax.js';

/** The schemas that interfaces are made of, by the names of their constants. Payloads and patches are named after their family. */
const schemas: ReadonlyMap<string, unknown> = new Map<string, unknown>([
  ...[agentEnd, agentStart, annotations, delivery, message, place, routing, run, subagent].flatMap(
    (module) => Object.entries(module),
  ),
  ...canonicalStages.flatMap(({ family, payload, patch }): [string, Schema | undefined][] => {
    const name = family.replace(/[.-]([a-z])/g, (_, letter: string) => letter.toUpperCase());
    return [
      [`${name}Payload`, payload],
      [`${name}Patch`, patch],
    ];
  }),
]);

/** The declaration of a config file: it has no name of the library that its schema is made with. */
export function configDeclaration(): string {
  return (
    '/** A config file as it is written. A setting with a `?` may be left out. spec/config.md has a table of all settings. */\n' +
    interfaceOf('SluiceConfig', configSchema)
  );
}

/** Writes the descriptions of fields into the declarations of the catalog and of a config, below a folder that `tsc` has written. */
export function describeDeclarations(dist: string): void {
  writeFileSync(join(dist, 'host/config/sluice-config.d.ts'), configDeclaration());
  const catalog = join(dist, 'kernel/catalog');
  for (const name of readdirSync(catalog, { recursive: true, encoding: 'utf8' })) {
    if (!name.endsWith('.d.ts')) continue;
    const text = readFileSync(join(catalog, name), 'utf8');
    const described = describedDeclaration(text, name);
    if (described !== text) writeFileSync(join(catalog, name), described);
  }
}

/**
 * Rewrites a declaration file: in place of `interface X extends Infer<typeof x> {}` it has the fields of X, each with the
 * description of its schema, so that an editor shows it. A constant that nothing else names is left out.
 *
 * @throws TypeError if a field has no description.
 */
export function describedDeclaration(text: string, path: string): string {
  const made =
    /(export interface \w+) extends (Readonly<)?Infer<(?:ReturnType<)?typeof (\w+)>{1,3} \{\s*\}/g;
  const described = text.replace(made, (_, head: string, isReadonly: unknown, name: string) => {
    const schema = schemaOf(name);
    if (schema === undefined)
      throw new TypeError(`${path}: there is no schema "${name}" that is known here.`);
    const fields = typeOf(schema, '');
    // as fields of its own: a language server shows no description through the mapped type `Readonly`
    return `${head} ${isReadonly === undefined ? fields : fields.replace(/^ {4}(?=\w)/gm, '    readonly ')}`;
  });
  const needless = nodesOf(parse(text, path)).filter(
    ({ type, start, declare, declarations }) =>
      type === 'VariableDeclaration' &&
      declare === true &&
      !text.slice(0, start).endsWith('export ') &&
      [declarations].flat().every((one) => {
        const name = isNode(one) ? nameOf(one['id']) : undefined;
        return described.split(new RegExp(`\\b${name}\\b`)).length === 2;
      }),
  );
  return needless.reduce(
    (rest, { start, end }) => rest.replace(`${text.slice(start, end)}\n`, ''),
    described,
  );
}

function schemaOf(name: string): Schema | undefined {
  const found = schemas.get(name);
  // a function makes the schema of a field by its description; all have the properties that are read here
  return (typeof found === 'function' ? found('') : found) as Schema | undefined;
}

/** The type of the values that a schema takes, as text. */
function typeOf(schema: Schema, indent: string): string {
  const { type, items, anyOf, properties = {}, required = [], additionalProperties } = schema;
  const literals = schema.enum ?? ('const' in schema ? [schema.const] : undefined);
  if (literals !== undefined)
    return literals.map((one) => (typeof one === 'string' ? `'${one}'` : String(one))).join(' | ');
  if (anyOf !== undefined) return anyOf.map((one) => typeOf(one, indent)).join(' | ');
  if (type === 'integer') return 'number';
  if (type === 'array') {
    const item = typeOf(items ?? {}, indent);
    return /^\w+$/.test(item) ? `${item}[]` : `Array<${item}>`;
  }
  if (type !== 'object') return type ?? 'unknown';
  if (additionalProperties === true)
    return 'role' in properties
      ? "import('./pieces/message.js').TranscriptMessage"
      : 'Record<string, unknown>';
  const inner = `${indent}    `;
  const fields = Object.entries(properties).map(([name, field]) => {
    if (field.description === undefined)
      throw new TypeError(`The field "${name}" has no description.`);
    const mark = required.includes(name) ? '' : '?';
    return `${docstring(field.description, inner)}${inner}${name}${mark}: ${typeOf(field, inner)};\n`;
  });
  return `{\n${fields.join('')}${indent}}`;
}
