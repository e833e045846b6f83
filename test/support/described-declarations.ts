import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TSchema } from 'typebox';
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
import { interfaceOf } from './config-type.js';
import { docstring } from './docstring.js';
import { isNode, nameOf, nodesOf, parse, type SyntaxNode } from './syntax.js';

/** A schema of the catalog, as far as its declaration needs it. */
interface Described {
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Described>>;
  readonly items?: Described;
  readonly anyOf?: readonly Described[];
}

/** The schemas that interfaces are made of, by the names of their constants. Payloads and patches are named after their family. */
const schemas: ReadonlyMap<string, unknown> = new Map<string, unknown>([
  ...[agentEnd, agentStart, annotations, delivery, message, place, routing, run, subagent].flatMap(
    (module) => Object.entries(module),
  ),
  ...canonicalStages.flatMap(({ family, payload, patch }): [string, TSchema | undefined][] => {
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
 * Rewrites a declaration file: in place of `interface X extends Static<typeof x> {}` it has the fields of X, each with the
 * description of its schema, so that an editor shows it. A constant that nothing else names is left out.
 *
 * @throws TypeError if a field has no description, or a type for which there is no rule here.
 */
export function describedDeclaration(text: string, path: string): string {
  const statements = nodesOf(parse(text, path));
  const types = typesOfConstants(statements);
  const made =
    /(export interface \w+) extends (Readonly<)?Static<(?:ReturnType<)?typeof (\w+)>{1,3} \{\s*\}/g;
  const described = text.replace(made, (_, head: string, isReadonly: unknown, name: string) => {
    const type = types.get(name);
    const schema = schemaOf(name);
    if (type === undefined || schema === undefined)
      throw new TypeError(`${path}: there is no schema "${name}" that is known here.`);
    const fields = typeIn(text, type, schema, '');
    // as fields of its own: a language server shows no description through the mapped type `Readonly`
    return `${head} ${isReadonly === undefined ? fields : fields.replace(/^ {4}(?=\w)/gm, '    readonly ')}`;
  });
  const needless = statements.filter(
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

function schemaOf(name: string): Described | undefined {
  const found = schemas.get(name);
  // a function makes the schema of a field by its description; all have the properties that are read here
  return (typeof found === 'function' ? found('') : found) as Described | undefined;
}

/** The types of constants by name; of a function, the type that it returns. */
function typesOfConstants(nodes: readonly SyntaxNode[]): ReadonlyMap<string, SyntaxNode> {
  const types = new Map<string, SyntaxNode>();
  for (const { type, id } of nodes) {
    if (type !== 'VariableDeclarator' || !isNode(id)) continue;
    const declared = annotationOf(id);
    const result = declared?.type === 'TSFunctionType' ? declared['returnType'] : undefined;
    const made = isNode(result) ? annotationOf({ ...result, typeAnnotation: result }) : declared;
    if (made !== undefined) types.set(nameOf(id) ?? '', made);
  }
  return types;
}

function annotationOf({ typeAnnotation }: SyntaxNode): SyntaxNode | undefined {
  const inner = isNode(typeAnnotation) ? typeAnnotation['typeAnnotation'] : undefined;
  return isNode(inner) ? inner : undefined;
}

/** The static type of a TypeBox type, as text. */
function typeIn(text: string, node: SyntaxNode, schema: Described, indent: string): string {
  const source = (one: SyntaxNode): string => text.slice(one.start, one.end);
  const [first] = argumentsOf(node);
  const kind = kindOf(text, node);
  const plain = {
    TString: 'string',
    TNumber: 'number',
    TInteger: 'number',
    TBoolean: 'boolean',
    TUnknown: 'unknown',
  }[kind];
  if (plain !== undefined) return plain;
  if (first !== undefined) {
    if (kind === 'TLiteral' || kind === 'TUnsafe') return source(first);
    if (kind === 'TEnum') return elementsOf(first).map(source).join(' | ');
    if (kind === 'TArray') {
      const item = typeIn(text, first, schema.items ?? {}, indent);
      return /^\w+$/.test(item) ? `${item}[]` : `Array<${item}>`;
    }
    if (kind === 'TUnion')
      return elementsOf(first)
        .map((one, at) => typeIn(text, one, schema.anyOf?.[at] ?? {}, indent))
        .join(' | ');
    if (kind === 'TObject') {
      const inner = `${indent}    `;
      const fields = [first['members']]
        .flat()
        .filter(isNode)
        .map((one) => {
          const name = nameOf(one['key']) ?? '';
          const type = annotationOf(one);
          const field = schema.properties?.[name];
          if (type === undefined || field?.description === undefined)
            throw new TypeError(`The field "${name}" has no description.`);
          const isOptional = kindOf(text, type) === 'TOptional';
          const bare = isOptional ? argumentsOf(type)[0] : type;
          const written = bare === undefined ? '' : typeIn(text, bare, field, inner);
          return `${docstring(field.description, inner)}${inner}${name}${isOptional ? '?' : ''}: ${written};\n`;
        });
      return `{\n${fields.join('')}${indent}}`;
    }
  }
  throw new TypeError(`There is no rule here for the type ${source(node)}.`);
}

/** The name of a TypeBox type, such as `TString` of `Type.TString` and of `import("typebox").TString`. */
function kindOf(text: string, node: SyntaxNode): string {
  return (
    /^(?:Type\.|import\("typebox"\)\.)?(\w+)/.exec(text.slice(node.start, node.end))?.[1] ?? ''
  );
}

function argumentsOf({ typeArguments }: SyntaxNode): readonly SyntaxNode[] {
  return isNode(typeArguments) ? [typeArguments['params']].flat().filter(isNode) : [];
}

/** The types of a tuple. */
function elementsOf({ elementTypes }: SyntaxNode): readonly SyntaxNode[] {
  return [elementTypes].flat().filter(isNode);
}
