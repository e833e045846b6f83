import type { ConfigSchema } from '../../extension/index.js';
import { checkedBy } from '../../extension/internal.js';
import type { ToolDefinition, ToolUse } from './agent-tool.js';

/** A schema of arguments: a Standard Schema, as zod and others make them, which may also tell its JSON Schema. */
interface ArgumentSchema<Args> extends ConfigSchema<Args> {
  readonly '~standard': ConfigSchema<Args>['~standard'] & {
    readonly jsonSchema?: {
      input(options: { readonly target: 'draft-2020-12' }): Record<string, unknown>;
    };
  };
}

/** A tool whose arguments have the types of their schema. */
export interface TypedTool<Args>
  extends Pick<ToolDefinition, 'name' | 'description' | 'timeoutMs'> {
  readonly args: ArgumentSchema<Args>;
  /** The JSON Schema of the arguments, for the model; that which `args` tells if absent. */
  readonly inputSchema?: ToolDefinition['inputSchema'];
  /** As that of a `ToolDefinition`, with the arguments as `args` has read them. */
  execute(args: Args, use: ToolUse): unknown;
}

/**
 * Makes a tool whose arguments are read by a Standard Schema. Wrong arguments are told to the model, and `execute` is not called.
 *
 * @throws TypeError if neither `inputSchema` is given nor `args` tells a JSON Schema.
 * @example
 * const args = z.object({ sides: z.int().min(2) });
 * api.provide('tool', defineTool({ name: 'dice', description: 'Throws a die.', args, execute: ({ sides }) => throwDie(sides) }));
 */
export function defineTool<Args>(tool: TypedTool<Args>): ToolDefinition {
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
