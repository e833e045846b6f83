import { type JudgeOptions, ToolJudge } from 'sluice-judge';
import type { Kernel } from 'sluice-kernel';

export type { AskedAbout, AskReply, CallFacts, JudgeOptions, ToolCall } from 'sluice-judge';

/** The members of a judge, by the names of the AI SDK. */
export interface AiSdkJudge {
  /**
   * Judges the tools of a call of `generateText`, `streamText` or an agent: each runs only if its call is allowed, and the model reads
   * its result as the handlers have left it.
   *
   * @returns the same tools under the same names.
   * @throws TypeError if a tool has no `execute`, and `unjudged` does not name it.
   * @example
   * await generateText({ model, prompt, tools: judged.tools({ shell }) });
   */
  tools<Tools extends Readonly<Record<string, object>>>(tools: Tools): Tools;
}

/** Ends a call that was refused, or whose tool has failed: its message is what the model reads. */
export class JudgedError extends Error {
  override readonly name = 'JudgedError';

  /** The AI SDK shows the model this. */
  override toString(): string {
    return this.message;
  }
}

/** A tool of the AI SDK, as far as the judge reads it. */
interface Executable {
  readonly execute?: (input: unknown, options: ExecuteOptions) => unknown;
  readonly inputSchema?: unknown;
}

interface ExecuteOptions {
  readonly toolCallId: string;
  readonly abortSignal?: AbortSignal;
  readonly context?: unknown;
}

/**
 * Makes the judge of an agent of the AI SDK (version 7). The context of a call is the one of its tool (`toolsContext`).
 *
 * @throws TypeError if an option is wrong.
 * @example
 * const judged = judge(kernel, { given: () => ({ principal, sessionId }) });
 */
export function judge<Context = unknown>(
  kernel: Kernel,
  options: JudgeOptions<Context>,
): AiSdkJudge {
  const judging = new ToolJudge(kernel, options);
  return {
    tools(tools) {
      const entries = Object.entries(tools).map(([name, tool]) => [
        name,
        judged(name, tool, judging),
      ]);
      return Object.fromEntries(entries) as typeof tools; // each has what it had, under its name
    },
  };
}

function judged(toolName: string, tool: Executable, judging: ToolJudge): Executable {
  const { execute } = tool;
  if (typeof execute !== 'function') {
    judging.leavesOut(toolName, 'has no "execute"');
    return tool;
  }
  if (judging.leavesOut(toolName)) return tool;
  return {
    ...tool,
    async execute(params, options) {
      const { toolCallId, abortSignal: signal, context } = options;
      const answer = await judging.call(
        { toolName, toolCallId, params, context, signal },
        {
          run: async (input) => await lastOf(execute.call(tool, input, options)),
          unfit: (input) => unfit(tool.inputSchema, input),
        },
      );
      if (answer.isError) throw answer.error ?? new JudgedError(answer.text);
      return answer.output;
    },
  };
}

/** The last value of a tool that answers in parts: nobody sees the others, which nobody has judged. */
async function lastOf(output: unknown): Promise<unknown> {
  if (!isParts(output)) return output;
  let last: unknown;
  for await (const part of output) last = part;
  return last;
}

function isParts(output: unknown): output is AsyncIterable<unknown> {
  return typeof Object(output)[Symbol.asyncIterator] === 'function';
}

/** Judges arguments that a handler has changed by the schema of the tool: that of `jsonSchema`, or a Standard Schema. */
async function unfit(schema: unknown, input: unknown): Promise<string | undefined> {
  const made: unknown =
    typeof schema === 'function' && !('~standard' in schema) ? schema() : schema;
  const { '~standard': standard, validate }: SchemaOfTool = Object(made);
  const issues = (await standard?.validate(input))?.issues;
  if (issues !== undefined) return issues.map(({ message }) => message).join('; ');
  const verdict = await validate?.(input);
  return verdict?.success === false ? verdict.error.message : undefined;
}

interface SchemaOfTool {
  readonly '~standard'?: {
    validate(
      value: unknown,
    ): PromiseOr<{ readonly issues?: readonly { readonly message: string }[] }>;
  };
  readonly validate?: (
    value: unknown,
  ) => PromiseOr<{ readonly success: true } | { readonly success: false; readonly error: Error }>;
}

type PromiseOr<T> = T | PromiseLike<T>;
