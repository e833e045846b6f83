import { type Fields, isFields, oneLine } from '../../kernel/index.js';

const types: readonly unknown[] = [
  ...['object', 'array', 'string', 'number', 'integer', 'boolean', 'null'],
];

/** A schema that can be compiled and shown to a model. */
export interface MendedSchema {
  /** The schema itself if nothing is lost. */
  readonly schema: Fields;
  /** The keywords that are lost, each with its place and the reason. */
  readonly lost: readonly string[];
}

/** A look at the value of a keyword. */
type Fits = (value: unknown, root: Fields) => boolean;

const isText: Fits = (value) => typeof value === 'string';
const isSchema: Fits = (value) => typeof value === 'boolean' || isFields(value);
const isListOf =
  (fits: Fits, least: number): Fits =>
  (value, root) =>
    Array.isArray(value) && value.length >= least && value.every((one) => fits(one, root));
const areSchemas = isListOf(isSchema, 1);

/** Keywords whose values are schemas by name, lists of schemas, and schemas. */
const maps = /^(properties|patternProperties|\$defs|definitions|dependentSchemas)$/;
const lists = /^(anyOf|oneOf|allOf|prefixItems)$/;
const schemas =
  /^(additionalProperties|not|if|then|else|contains|propertyNames|unevaluated(Items|Properties))$/;

const rules: readonly (readonly [keyword: RegExp, fits: Fits, kind: string])[] = [
  [/^type$/, (value) => [value].flat().every((one) => types.includes(one)), 'type'],
  [/^required$/, isListOf(isText, 0), 'list of names'],
  [/^enum$/, isListOf(() => true, 1), 'list of values'],
  [/^(title|description|format|\$schema|\$id)$/, isText, 'text'],
  [
    /^((max|min)(imum|Length|Items|Properties)|multipleOf)$/,
    (value) => typeof value === 'number',
    'number',
  ],
  [/^pattern$/, isPattern, 'regular expression of JavaScript'],
  [/^\$(r|dynamicR)ef$/, leadsToSchema, 'reference to a schema that is there'],
  [maps, isFields, 'object'],
  [lists, areSchemas, 'list of schemas'],
  [schemas, isSchema, 'schema'],
  [/^items$/, (value, root) => isSchema(value, root) || areSchemas(value, root), 'schema'],
  [/^(?!const$|default$|example$)/, (value) => value !== null, 'value'],
];

const known = new WeakMap<Fields, MendedSchema>();

/**
 * Takes the keywords out of a schema that no validator of JavaScript can use or that are none: what is left judges the arguments,
 * and no model is shown the rest. Never throws.
 */
export function mendSchema(given: Fields): MendedSchema {
  const before = known.get(given);
  if (before !== undefined) return before;
  const lost: string[] = [];
  let schema: Fields = { type: 'object' };
  try {
    const read = mendedOf(given, '', { root: given, lost });
    schema = lost.length === 0 ? given : read;
  } catch (thrown) {
    lost.push(`the whole schema: ${oneLine(thrown)}`); // it is too deep
  }
  const mended = { schema, lost };
  known.set(given, mended);
  return mended;
}

interface Mending {
  readonly root: Fields;
  readonly lost: string[];
}

function mendedOf(schema: Fields, path: string, { root, lost }: Mending): Fields {
  const inner = (one: unknown, at: string): unknown => {
    if (isFields(one)) return mendedOf(one, at, { root, lost });
    if (isSchema(one, root)) return one;
    lost.push(`${at} is no schema: ${oneLine(one)}`);
    return {};
  };
  const kept = Object.entries(schema).flatMap(([keyword, value]) => {
    const at = `${path}/${keyword}`;
    const broken = rules.find(([which, fits]) => which.test(keyword) && !fits(value, root));
    if (broken !== undefined && value !== undefined) {
      lost.push(`${at} is no ${broken[2]}: ${oneLine(value)}`);
      return [];
    }
    if (maps.test(keyword) && isFields(value)) {
      const members = Object.entries(value)
        .filter(([name]) => keyword !== 'patternProperties' || isKept(name, at, lost))
        .map(([name, one]) => [name, inner(one, `${at}/${name}`)] as const);
      return [[keyword, Object.fromEntries(members)] as const];
    }
    if (lists.test(keyword) || schemas.test(keyword) || keyword === 'items') {
      const mended = Array.isArray(value)
        ? value.map((one, index) => inner(one, `${at}/${index}`))
        : inner(value ?? true, at);
      return [[keyword, mended] as const];
    }
    return [[keyword, value] as const];
  });
  return Object.fromEntries(kept);
}

function isKept(pattern: string, at: string, lost: string[]): boolean {
  if (isPattern(pattern)) return true;
  lost.push(`${at}/${pattern} is no regular expression of JavaScript`);
  return false;
}

function isPattern(value: unknown): boolean {
  try {
    new RegExp(String(value), 'u');
    return typeof value === 'string';
  } catch {
    return false;
  }
}

/** Tells whether a reference stays in the schema, and something is there: nothing is fetched. */
function leadsToSchema(reference: unknown, root: Fields): boolean {
  try {
    const [document = '', fragment = ''] = decodeURIComponent(String(reference)).split('#');
    const names = new Set<unknown>();
    const isNamed = document !== '' || !/^(\/|$)/.test(fragment);
    if (isNamed)
      JSON.stringify(root, (key, value: unknown) => {
        if (/^\$(id|anchor|dynamicAnchor)$/.test(key)) names.add(value);
        return value;
      });
    if (isNamed) return names.has(document === '' ? fragment : document);
    let at: unknown = root;
    for (const segment of fragment.split('/').slice(1))
      at = Object.entries(Object(at) as Fields).find(
        ([key]) => key === segment.replaceAll('~1', '/').replaceAll('~0', '~'),
      )?.[1];
    return isSchema(at, root);
  } catch {
    return false;
  }
}
