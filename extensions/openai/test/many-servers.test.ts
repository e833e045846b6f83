import { setImmediate as nextTurn } from 'node:timers/promises';
import { collectingLogger, virtualClock } from 'sluice/testing';
import { expect, it } from 'vitest';
import { config } from '../src/config.js';
import { McpList } from '../src/mcp-list.js';
import { McpServer } from '../src/mcp-server.js';
import { mcpTools } from '../src/mcp-tools.js';

it('asks 10,000 MCP servers for their tools, and no more than 64 at once', async () => {
  const { mcpServers } = config.parse({ mcpServers: { one: { command: 'none' } } });
  const [settings] = Object.values(mcpServers);
  if (settings === undefined) throw new Error('there is one');
  const seen = { running: 0, most: 0, asked: 0 };
  class Slow extends McpServer {
    override async tools(): Promise<McpList> {
      seen.most = Math.max(seen.most, ++seen.running);
      seen.asked++;
      await nextTurn();
      seen.running--;
      return new McpList();
    }
  }
  const parts = { clock: virtualClock(), logger: collectingLogger() };
  const servers = Array.from({ length: 10_000 }, (_, at) => new Slow(`s${at}`, settings, parts));
  expect(await mcpTools(servers, 1_000)).toEqual([]);
  expect(seen).toEqual({ running: 0, most: 64, asked: 10_000 });
});
