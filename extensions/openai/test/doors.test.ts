import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import type { AgentProvider } from 'sluice/stream';
import { scriptedAgent } from 'sluice/testing';
import { describe, expect, it } from 'vitest';
import { agentLab } from './agent-lab.js';
import { says } from './model-server.js';

const program = fileURLToPath(new URL('scripted-mcp.js', import.meta.url));

/** An MCP server that is asked for its tools and never answers. */
const silent = {
  command: process.execPath,
  args: [program, JSON.stringify({ pages: [{ tools: [] }], holdPage: 0 }), '/dev/null'],
};

describe('the law for all doors beside MCP (durability §8.9)', () => {
  it('holds beside an agent whose MCP server never answers: messages of another agent are answered while no time passes (durability §8.9)', async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 100 }), async (times) => {
        const quick: AgentProvider = scriptedAgent(Array.from({ length: 3 }, () => ['done']));
        await using lab = await agentLab(
          [says('never')],
          { mcpServers: { silent } },
          {
            agents: [{ id: 'quick', provider: quick }],
          },
        );
        const { test } = lab;
        for (let at = 0; at < times; at++)
          void test.say({ text: 'hang', conversation: `c-${at}`, from: `p-${at}` });
        test.kernel.contribute({
          ...{ extensionId: 'test', family: 'routing.resolving', class: 'resolver', id: 'quick' },
          handler: ({ payload: { message } }) =>
            message.content === 'quick'
              ? { kind: 'select', target: { agentId: 'quick' }, explicit: true, rank: 1 }
              : undefined,
        });
        for (const from of ['ada', 'bob', 'cy'])
          expect(await test.say({ text: 'quick', conversation: from, from })).toMatchObject({
            status: 'answered',
          });
        expect(test.ends).toHaveLength(3);
        test.host.abortTurns();
      }),
      { numRuns: 2, examples: [[100]] },
    );
  });
});
