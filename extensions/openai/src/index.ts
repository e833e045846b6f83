import { defineExtension } from 'sluice';
import type { AgentDefinition } from 'sluice/host';
import { agentsOf, config } from './config.js';
import { McpServer } from './mcp-server.js';
import { mcpTools } from './mcp-tools.js';
import { openAiProvider } from './openai-agent.js';

/** Agents of any model behind chat completions, with tools of MCP servers. The README has the settings. */
export default defineExtension({
  id: 'openai',
  manifest: { version: '0.2.0', sluice: '~0.2.0', grants: ['provide:agent'] },
  config,
  setup(api, settings) {
    const { clock, log: logger } = api;
    const servers = Object.entries(settings.mcpServers).map(([name, one]) =>
      api.own(`MCP server ${name}`, new McpServer(name, one, { clock, logger })),
    );
    for (const server of servers) void server.tools(); // begun now, so that the first turn need not wait
    for (const agent of agentsOf(settings)) {
      const own = servers.filter(({ name }) => agent.tools?.includes(name) ?? true);
      const { id, systemPrompt, timeoutMs, attempts: maxAttempts } = agent;
      const provider = openAiProvider(agent, {
        ...{ clock, logger, tools: () => mcpTools(own, agent.contextTokens) },
        troubles: () => own.flatMap((server) => server.troubles),
      });
      const definition: AgentDefinition = {
        ...{ id, provider },
        retry: {
          maxAttempts,
          shouldRetry: ({ assistantTexts, toolCalls, error }) =>
            error?.code === 'said-nothing' ||
            (error?.retryAfterMs !== undefined && assistantTexts.length + toolCalls === 0),
        },
        ...(systemPrompt !== undefined && { systemPrompt }),
        ...(timeoutMs !== undefined && { timeoutMs }),
      };
      api.provide('agent', definition);
    }
  },
});
