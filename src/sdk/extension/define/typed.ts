import { type ConfigSchema, checkedBy } from '../config/config-schema.js';
import type { Provided } from './provisions.js';

/** A chat command and its context, as the layer above has declared them. */
type Command = Provided<'command'>;
type Run = Command extends { run: infer R extends (context: never) => unknown } ? R : never;
/** A tool, and its run. */
type Tool = Provided<'tool'>;
type Execute = Tool extends { execute: infer E extends (...given: never) => unknown } ? E : never;

/** A command whose arguments have names, and the types of their schema. */
export type TypedCommand<Args> = Omit<Command, 'run' | 'usage'> & {
  readonly name: string;
  /** The words behind the command by their names, such as `<minutes> <text...>`: the last may take all that are left. */
  readonly usage: string;
  /** Reads an object of these names: each has a text, or is absent if its word is. So a number is `z.coerce.number()`. */
  readonly args: ArgumentSchema<Args>;
  /** As that of a `ChatCommand`, with the arguments as `args` has read them. */
  run(context: Omit<Parameters<Run>[0], 'args'> & { readonly args: Args }): ReturnType<Run>;
};

/**
 * Makes a command whose arguments are read by a Standard Schema. A wrong one is answered with the problem and the usage, which `/help`
 * shows, too.
 *
 * @throws TypeError if `usage` names an argument that `args` does not read, or the other way, as far as `args` tells a JSON Schema.
 * @example
 * api.provide('command', defineCommand({
 *   name: 'remind',
 *   description: 'Reminds you.',
 *   usage: '<minutes> <text...>',
 *   args: z.object({ minutes: z.coerce.number().positive(), text: z.string() }),
 *   run: ({ args: { minutes, text } }) => `${text}, in ${minutes} minutes.`,
 * }));
 */
export function defineCommand<Args>({
  args: schema,
  ...command
}: TypedCommand<Args>): Provided<'command'> {
  const { name, usage } = command;
  const names = [...usage.matchAll(/[<[]([\w-]+)(\.\.\.)?[>\]]/g)];
  const odd = oddName(
    names.map(([, word = '']) => word),
    schema,
  );
  if (odd !== undefined)
    throw new TypeError(`command "${name}": its usage and its args do not both name "${odd}"`);
  const mayBeLong = names.at(-1)?.[2] !== undefined;
  return {
    ...command,
    run: async (context: Parameters<Run>[0]) => {
      const { args: words } = context;
      const named = names.flatMap(([, word = '', rest], at) => {
        const text = rest === undefined ? words[at] : words.slice(at).join(' ');
        return text === undefined || text === '' ? [] : [[word, text] as const];
      });
      const surplus = mayBeLong ? undefined : words[names.length];
      const { value, problem } = await checkedBy(schema, Object.fromEntries(named));
      if (value !== undefined && surplus === undefined)
        return command.run({ ...context, args: value.read });
      const why = surplus === undefined ? problem : `"${surplus}" is one word too many`;
      const text = `${why}. Write: /${name} ${usage}`;
      return { text, error: text };
    },
  };
}

/** A schema of arguments: a Standard Schema, as zod and others make them, which may also tell its JSON Schema. */
interface ArgumentSchema<Args> extends ConfigSchema<Args> {
  readonly '~standard': ConfigSchema<Args>['~standard'] & {
    readonly jsonSchema?: {
      input(options: { readonly target: 'draft-2020-12' }): Record<string, unknown>;
    };
  };
}

/** Finds a name that only one of a usage and a schema has, if the schema tells its names. */
function oddName(words: readonly string[], schema: ArgumentSchema<unknown>): string | undefined {
  let told: Record<string, unknown> | undefined;
  try {
    told = schema['~standard'].jsonSchema?.input({ target: 'draft-2020-12' });
  } catch {
    // a type that JSON does not have, such as a date
  }
  const { properties, additionalProperties = false } = told ?? {};
  if (properties === undefined || additionalProperties !== false) return undefined;
  const read = Object.keys(Object(properties));
  return [...words, ...read].find((one) => !words.includes(one) || !read.includes(one));
}

/** A tool whose arguments have the types of their schema. */
export interface TypedTool<Args> extends Pick<Tool, 'name' | 'description' | 'timeoutMs'> {
  readonly args: ArgumentSchema<Args>;
  /** The JSON Schema of the arguments, for the model; that which `args` tells if absent. */
  readonly inputSchema?: Tool['inputSchema'];
  /** As that of a `ToolDefinition`, with the arguments as `args` has read them. */
  execute(args: Args, use: Parameters<Execute>[1]): unknown;
}

/**
 * Makes a tool whose arguments are read by a Standard Schema. Wrong arguments are told to the model, and `execute` is not called.
 *
 * @throws TypeError if neither `inputSchema` is given nor `args` tells a JSON Schema.
 * @example
 * const args = z.object({ sides: z.int().min(2) });
 * api.provide('tool', defineTool({ name: 'dice', description: 'Throws a die.', args, execute: ({ sides }) => throwDie(sides) }));
 */
export function defineTool<Args>(tool: TypedTool<Args>): Provided<'tool'> {
  const { args, execute, inputSchema, ...rest } = tool;
  const told = inputSchema ?? args['~standard'].jsonSchema?.input({ target: 'draft-2020-12' });
  if (told === undefined)
    throw new TypeError(
      `tool "${rest.name}": its args tell no JSON Schema; give it as inputSchema`,
    );
  return {
    ...rest,
    inputSchema: told,
    execute: async (given, use) => {
      const { value, problem } = await checkedBy(args, given);
      if (value === undefined) throw new Error(`wrong arguments: ${problem}`);
      return execute(value.read, use);
    },
  };
}
