import { createHash } from 'node:crypto';
import pLimit from 'p-limit';
import { fromJsonSchema } from 'sluice/extension';
import type { ToolDefinition } from 'sluice/stream';
import type { McpTool } from './mcp-list.js';
import type { McpServer } from './mcp-server.js';

/** Servers that are asked side by side: more than an agent has, so that one that hangs delays none. */
const serversAtOnce = 64;

type Fields = Readonly<Record<string, unknown>>;

const noRoom = 'the tools of MCP servers may take half of contextTokens';

/** The tools of some servers as tools of a provider, in half of its context at most. A server that is away has none. */
export async function mcpTools(
  servers: readonly McpServer[],
  contextTokens: number,
): Promise<readonly ToolDefinition[]> {
  const read = async (server: McpServer) => ({ server, list: await server.tools() });
  const all = await pLimit(serversAtOnce).map(servers, read);
  let restBytes = contextTokens * 2; // of four for each token
  const bySize = all.toSorted((a, b) => a.list.bytes - b.list.bytes); // a large one takes nothing from the others
  return bySize.flatMap(({ server, list }) =>
    list.tools.flatMap((tool) => {
      if (tool.bytes > restBytes) {
        list.leftOut.set(tool.name, noRoom);
        return [];
      }
      restBytes -= tool.bytes;
      return [definitionOf(server, tool)];
    }),
  );
}

function definitionOf(server: McpServer, tool: McpTool): ToolDefinition {
  const { name, description, inputSchema, outputSchema } = tool;
  return {
    name: toolName(server.name, name),
    ...{ description, inputSchema, timeoutMs: server.callTimeoutMs },
    execute: async (args, use) => resultOf(await server.call(name, args, use), outputSchema),
  };
}

/**
 * A result for the model: its blocks, or else what it has in their place, and a note if it does not fit its schema. The result of a
 * failure is not checked.
 */
function resultOf(given: unknown, outputSchema: unknown): object {
  const { content, structuredContent, isError, _meta, ...rest } = Object(given) as Fields;
  const details = structuredContent ?? undefined;
  const other = details ?? (Object.keys(rest).length > 0 ? rest : undefined); // old servers have other fields
  const said = [content].flat().filter((one) => one != null && Object(one).text?.trim?.() !== '');
  const blocks = said.map(blockOf);
  if (said.length === 0 && other !== undefined) blocks.push(JSON.stringify(other));
  const problem = isError === true ? undefined : misfit(details, outputSchema);
  if (problem !== undefined) blocks.push(`[${problem}]`);
  return { content: blocks, isError, details };
}

function misfit(details: unknown, schema: unknown): string | undefined {
  if (typeof schema !== 'object' || schema === null) return undefined;
  if (details === undefined) return 'the structured content that the tool promises is missing';
  try {
    const verdict = fromJsonSchema(schema as Fields)['~standard'].validate(details);
    const [issue] = ('issues' in verdict && verdict.issues) || [];
    const path = issue?.path?.map(String).join('.') ?? '';
    return issue && `the structured content does not fit its schema: ${path} ${issue.message}`;
  } catch {
    return undefined; // the schema itself cannot be used
  }
}

/** A block of a kind that models get, and the text of any other, without the bytes in it. */
function blockOf(block: unknown): unknown {
  if (typeof block === 'string' || /^(text|image)$/.test(Object(block).type)) return block;
  return JSON.stringify(block, (key, value: unknown) =>
    /^(data|blob)$/.test(key) && typeof value === 'string' ? `[${value.length} letters]` : value,
  );
}

/**
 * The name of a tool for handlers and models: `mcp__SERVER__TOOL`. No tool of the host begins so, and no server has "_" in its name.
 * A name that is too long, or has other characters, gets a digest of the real one.
 */
export function toolName(server: string, tool: string): string {
  const name = `mcp__${server}__${tool}`;
  if (/^[\w-]{1,64}$/.test(name)) return name;
  const digest = createHash('sha256').update(tool).digest('hex').slice(0, 8);
  return `${name.replace(/[^\w-]/g, '_').slice(0, 55)}_${digest}`;
}
