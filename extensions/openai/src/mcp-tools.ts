import { createHash } from 'node:crypto';
import type { ToolDefinition } from 'sluice/stream';
import type { McpServer } from './mcp-server.js';

/** The tools of some servers as tools of a provider. A server that is away has none. */
export async function mcpTools(
  servers: readonly McpServer[],
  callTimeoutMsOf: (server: McpServer) => number,
): Promise<readonly ToolDefinition[]> {
  const listed = await Promise.all(
    servers.map(async (server) => (await server.tools()).map((tool) => ({ server, tool }))),
  );
  return listed.flat().map(({ server, tool }) => ({
    name: toolName(server.name, tool.name),
    description: tool.description ?? tool.title ?? tool.name,
    inputSchema: tool.inputSchema,
    timeoutMs: callTimeoutMsOf(server),
    execute: async (args, use) => {
      const { content, structuredContent, isError } = await server.call(tool.name, args, use);
      return { content, isError, details: structuredContent };
    },
  }));
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
