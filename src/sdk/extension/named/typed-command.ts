import { type ConfigSchema, checkedBy } from '../define/config-schema.js';
import type { Provisions } from '../define/provisions.js';

/** A chat command and its context, as the layer above has declared them. */
type Command = Provisions extends { command: infer C } ? C : never;
/** The `run` of a chat command. */
export type CommandRun = Command extends { run: infer R extends (context: never) => unknown }
  ? R
  : never;

/** A command whose arguments have names, and the types of their schema. */
export type TypedCommand<Args> = Omit<Command, 'run' | 'usage'> & {
  readonly name: string;
  /** The words behind the command by their names, such as `<minutes> <text...>`: the last may take all that are left. */
  readonly usage: string;
  /** Reads an object of these names: each has a text, or is absent if its word is. So a number is `z.coerce.number()`. */
  readonly args: ConfigSchema<Args>;
  /** As that of a `ChatCommand`, with the arguments as `args` has read them. */
  run(
    context: Omit<Parameters<CommandRun>[0], 'args'> & { readonly args: Args },
  ): ReturnType<CommandRun>;
};

/**
 * Makes a command whose arguments are read by a Standard Schema. A wrong one is answered with the problem and the usage, which `/help`
 * shows, too.
 *
 * @example
 * api.provide('command', defineCommand({
 *   name: 'remind',
 *   description: 'Reminds you.',
 *   usage: '<minutes> <text...>',
 *   args: z.object({ minutes: z.coerce.number().positive(), text: z.string() }),
 *   run: ({ args: { minutes, text } }) => `${text}, in ${minutes} minutes.`,
 * }));
 */
export function defineCommand<Args>({ args: schema, ...command }: TypedCommand<Args>) {
  const { name, usage } = command;
  const names = [...usage.matchAll(/[<[]([\w-]+)(\.\.\.)?[>\]]/g)];
  const mayBeLong = names.at(-1)?.[2] !== undefined;
  return {
    ...command,
    run: async (context: Parameters<CommandRun>[0]) => {
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
