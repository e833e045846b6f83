import { fromJsonSchema } from '../../extension/index.js';
import { isFields, oneLine } from '../../kernel/index.js';

const types: readonly unknown[] = [
  ...['object', 'array', 'string', 'number', 'integer', 'boolean', 'null'],
];

/** Says in words why a value cannot be a tool of an agent; nothing if it can. */
export function toolProblem(given: unknown): string | undefined {
  if (!isFields(given)) return `it is ${given === null ? 'null' : `no object (${typeof given})`}`;
  const { name, description, inputSchema, execute, timeoutMs = 1 } = given;
  if (typeof name !== 'string' || !/^(?!mcp__)[\w-]{1,64}$/.test(name))
    return `its name ${oneLine(name)} is not 1 to 64 letters, digits, "_" and "-", or begins with "mcp__"`;
  if (typeof description !== 'string') return 'it has no description';
  if (typeof execute !== 'function') return 'it has no function "execute"';
  if (!(typeof timeoutMs === 'number' && timeoutMs > 0 && timeoutMs < 2 ** 31))
    return 'its timeoutMs must be more than 0';
  if (!isFields(inputSchema) || inputSchema['type'] !== 'object')
    return 'its input schema has not the type "object"';
  try {
    const wrong = schemaProblem(inputSchema, '');
    if (wrong !== undefined) return `its input schema is wrong: ${wrong}`;
    JSON.stringify(inputSchema);
    void fromJsonSchema(inputSchema)['~standard'].validate({});
    return undefined;
  } catch (thrown) {
    return `its input schema cannot be used: ${oneLine(thrown)}`;
  }
}

/** The first place where a schema is none: a model that is given it would refuse the whole turn. */
function schemaProblem(schema: unknown, path: string): string | undefined {
  if (typeof schema === 'boolean') return undefined;
  if (!isFields(schema)) return `${path || '/'} is no schema`;
  const { type, properties, items, required } = schema;
  const wrongType = [type ?? []].flat().find((one) => !types.includes(one));
  if (wrongType !== undefined) return `${path}/type is ${oneLine(wrongType)}`;
  if (required !== undefined && !isListOfTexts(required))
    return `${path}/required is no list of names`;
  if (properties !== undefined && !isFields(properties)) return `${path}/properties is no object`;
  const inner = [
    ...Object.entries(properties ?? {}).map(([key, one]) => [`/properties/${key}`, one] as const),
    ...[items ?? []].flat().map((one) => ['/items', one] as const),
    ...['anyOf', 'oneOf', 'allOf'].flatMap((key) =>
      [schema[key] ?? []].flat().map((one) => [`/${key}`, one] as const),
    ),
  ];
  for (const [key, one] of inner) {
    const wrong = schemaProblem(one, path + key);
    if (wrong !== undefined) return wrong;
  }
  return undefined;
}

function isListOfTexts(value: unknown): boolean {
  return Array.isArray(value) && value.every((one) => typeof one === 'string');
}
