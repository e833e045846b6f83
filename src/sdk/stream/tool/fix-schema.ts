import { type Fields, getOrMake, isFields, oneLine } from 'sluice-kernel/internal';

/** A schema that can be compiled and shown to a model. */
interface FixedSchema {
  /** The schema itself if nothing is lost. */
  readonly schema: Fields;
  /** The keywords that are lost, each with its place and the reason. */
  readonly lost: readonly string[];
}

/** A look at the value of a keyword. */
type Fits = (value: unknown) => boolean;

const types = 'object array string number integer boolean null'.split(' ');
const isText: Fits = (value) => typeof value === 'string';
const isSchema: Fits = (value) => typeof value === 'boolean' || isFields(value);
const isListOf = (fits: Fits, value: unknown) => Array.isArray(value) && value.every(fits);
const areSchemas: Fits = (value) => isListOf(isSchema, value) && String(value) !== '';

/** Keywords whose values are schemas by name, and those whose values are no schemas. */
const maps = /^(properties|patternProperties|\$defs|definitions|dependentSchemas)$/;
const data = /^(const|default|enum|examples?|required|dependentRequired|dependencies)$/;

const rules: readonly (readonly [keyword: RegExp, fits: Fits, kind: string])[] = [
  [/^type$/, (value) => [value].flat().every((one) => types.includes(String(one ?? ''))), 'type'],
  [/^required$/, (value) => isListOf(isText, value), 'list of names'],
  [/^enum$/, (value) => Array.isArray(value) && value.length > 0, 'list of values'],
  [/^(title|description|format|\$schema|\$id)$/, isText, 'text'],
  [/^((max|min)(imum|Length|Items)|multipleOf)$/, (value) => typeof value === 'number', 'number'],
  [/^pattern$/, isPattern, 'regular expression of JavaScript'],
  [maps, isFields, 'object'],
  [/^patternP/, (value) => Object.keys(Object(value)).every(isPattern), 'list of patterns'],
  [/^((any|one|all)Of|prefixItems)$/, areSchemas, 'list of schemas'],
  [/^(not|if|then|else|contains|propertyNames|(additional|unevaluated).*)$/, isSchema, 'schema'],
  [/^items$/, (value) => isSchema(value) || areSchemas(value), 'schema'],
  [/^(?!const$|default$|example$)/, (value) => value !== null, 'value'],
];

const known = new WeakMap<Fields, FixedSchema>();

/**
 * Takes the keywords out of a schema that no validator of JavaScript can use or that are none: what is left judges the arguments,
 * and no model is shown the rest. Never throws.
 */
export function fixSchema(given: Fields): FixedSchema {
  return getOrMake(known, given, () => {
    const lost: string[] = [];
    try {
      const text = JSON.stringify(given);
      const isThere: Fits = (one) => leadsIn(given, text, one);
      const all: typeof rules = [
        ...rules,
        [/^\$(r|dynamicR)ef$/, isThere, 'reference to a schema that is there'],
      ];
      /** @param isMap its fields are schemas by name. */
      const fixed = (value: unknown, path: string, isMap = false): unknown => {
        if (Array.isArray(value)) return value.map((one, at) => fixed(one, `${path}/${at}`));
        if (!isFields(value)) return value;
        const kept = Object.entries(value).flatMap(([key, one]) => {
          const at = `${path}/${key}`;
          const broken = isMap
            ? !isSchema(one) && 'schema'
            : all.find(([keyword, fits]) => keyword.test(key) && !fits(one))?.[2];
          if (broken && one !== undefined) {
            lost.push(`${at} is no ${broken}: ${oneLine(one)}`);
            return isMap ? [[key, {}]] : [];
          }
          const isData = !isMap && data.test(key);
          return [[key, isData ? one : fixed(one, at, !isMap && maps.test(key))]];
        });
        return Object.fromEntries(kept);
      };
      const read = fixed(given, '') as Fields; // of an object it is one
      return { schema: lost.length === 0 ? given : read, lost };
    } catch (thrown) {
      return { schema: { type: 'object' }, lost: [`the whole schema: ${oneLine(thrown)}`] }; // it is too deep
    }
  });
}

function isPattern(value: unknown): boolean {
  try {
    return new RegExp(String(value), 'u') instanceof RegExp && isText(value);
  } catch {
    return false;
  }
}

/** Returns whether a reference stays in the schema, and something is there: nothing is fetched. */
function leadsIn(root: Fields, text: string, reference: unknown): boolean {
  try {
    const [document = '', fragment = ''] = decodeURIComponent(String(reference)).split('#');
    if (document !== '') return text.includes(`"$id":${JSON.stringify(document)}`);
    if (!/^(\/|$)/.test(fragment)) return text.includes(`nchor":${JSON.stringify(fragment)}`);
    const keys = fragment
      .split('/')
      .slice(1)
      .map((one) => one.replaceAll('~1', '/').replaceAll('~0', '~'));
    const at = keys.reduce<unknown>(
      (one, key) => (Object.hasOwn(Object(one), key) ? Object(one)[key] : undefined),
      root,
    );
    return isSchema(at);
  } catch {
    return false; // it is badly encoded
  }
}
