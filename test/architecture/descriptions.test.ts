import { describe, expect, it } from 'vitest';
import { configSchema } from '../../src/host/config/schema.js';
import { canonicalStages } from '../../src/kernel/catalog/index.js';
import { everySetting } from '../support/config-settings.js';
import { freshDeclarations } from '../support/fresh-declarations.js';
import { isNode, nameOf, nodesOf, parse, type SyntaxNode } from '../support/syntax.js';

/** The docstring of each member of the interfaces that are declared, by its place: `EgressPreparing.attachments.kind`. */
const shown = new Map<string, string>();
for (const { path, text } of freshDeclarations())
  if (path.startsWith('kernel/catalog/') || path === 'host/config/sluice-config.d.ts')
    for (const node of nodesOf(parse(text, path)))
      if (node.type === 'TSInterfaceDeclaration') readMembers(text, node, nameOf(node['id']) ?? '');

function readMembers(text: string, { body }: SyntaxNode, place: string): void {
  const members = isNode(body) ? [body['body']].flat().filter(isNode) : [];
  for (const member of members) readMember(text, member, place);
}

/** Reads a member, and those of the objects in its type: they have no names of their own. */
function readMember(text: string, member: SyntaxNode, above: string): void {
  const place = `${above}.${nameOf(member['key'])}`;
  const before = text.slice(0, member.start).trimEnd();
  const docstring = before.slice(before.lastIndexOf('/**') + 3, -2);
  if (before.endsWith('*/')) shown.set(place, oneLine(docstring.replace(/^\s*\*/gm, '')));
  const open = [member['typeAnnotation']].filter(isNode);
  for (let node = open.pop(); node !== undefined; node = open.pop())
    if (node.type === 'TSPropertySignature') readMember(text, node, place);
    else open.push(...Object.values(node).flat().filter(isNode));
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}

interface Schema {
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: boolean;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
}

/** The fields of a schema, those of the objects in it, and the description of each. */
function fieldsOf(schema: Schema, above: string): (readonly [place: string, is: string])[] {
  const { properties = {}, items, anyOf = [], additionalProperties } = schema;
  const inner = [items, ...anyOf].filter((one) => one !== undefined);
  return [
    ...inner.flatMap((one) => fieldsOf(one, above)),
    // an open object is a type of its own: TranscriptMessage, or a record
    ...(additionalProperties === true ? [] : Object.entries(properties)).flatMap(
      ([name, field]) => [
        [
          `${above}.${name}`,
          oneLine(field.description ?? 'a field without a description'),
        ] as const,
        ...fieldsOf(field, `${above}.${name}`),
      ],
    ),
  ];
}

const selections = {
  'routing.resolving': 'Route',
  'agent.answer.resolving': 'GivenAnswer',
  'egress.preparing': 'Delivery',
  'subagent.delivery.resolving': 'SubagentTarget',
};

const parts = canonicalStages.flatMap(({ family, payload, patch, annotations, selection }) => {
  const name = family.replace(/(?:^|[.-])([a-z])/g, (_, letter: string) => letter.toUpperCase());
  const target = Object.entries(selections).find(([one]) => one === family)?.[1] ?? 'nothing';
  const schemas = {
    [name]: payload,
    [`${name}Patch`]: patch,
    Annotations: annotations,
    [target]: selection,
  };
  return Object.entries(schemas).flatMap(([declared, schema]) =>
    schema === undefined ? [] : [{ family, declared, schema: schema as Schema }],
  );
});

describe('the declarations, as an editor shows them', () => {
  it.each(parts)('describe each field of $declared, of $family (event-pipeline §2.6)', (part) => {
    const fields = fieldsOf(part.schema, part.declared);
    expect(fields).not.toEqual([]);
    expect(fields.map(([place]) => [place, shown.get(place)])).toEqual(fields);
  });

  it('describe each setting of a config (event-pipeline §20.1)', () => {
    const settings = everySetting(configSchema).map(({ place, what }) => {
      const name = place.replaceAll('[]', '').replaceAll('.*', '').replaceAll('"', '');
      return [`SluiceConfig.${name}`, `${what.charAt(0).toUpperCase()}${what.slice(1)}.`];
    });
    expect(settings.length).toBeGreaterThan(40);
    expect(settings.map(([place = '']) => [place, shown.get(place)])).toEqual(settings);
  });
});
