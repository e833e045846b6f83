import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { loadClaudeSdk } from '../../../src/claude/agent/index.js';
import { bridgeCsdk, checkOrdering } from '../../../src/claude/index.js';
import { cancel } from '../../../src/kernel/internal.js';
import type { SessionEvent } from '../../../src/sdk/stream/index.js';
import { calls, says } from '../../support/messages-api/reply.js';
import { ClaudeLab, describeClaude, sdkFolder } from './claude-lab.js';
import { streamedTexts } from './soundness.js';

describeClaude('a bridged query of a host’s own', () => {
  it('asks the pipeline before each tool, and tells it of the run', async () => {
    const files = ['a', 'b'].map((file) =>
      calls(`toolu_${file}`, 'Bash', { command: `touch ${file}` }),
    );
    const main = [says('I make both.', ...files), says('One is made.')];
    await using lab = await ClaudeLab.start({ main });
    const { kernel, outcomes } = lab.test;
    kernel.contribute({
      extensionId: 'test',
      id: 'only-one',
      class: 'veto',
      family: 'agent.tool.calling',
      handler: ({ payload }) =>
        payload.toolCallId === 'toolu_b' ? cancel('policy', { text: 'Not b.' }) : undefined,
    });
    kernel.contribute({
      extensionId: 'test',
      id: 'elsewhere',
      class: 'mutator',
      family: 'agent.tool.calling',
      handler: ({ payload }) =>
        payload.toolCallId === 'toolu_a' ? { params: { command: 'touch c' } } : undefined,
    });
    const session = { agentId: 'main', sessionKey: 'k', sessionId: 's', history: [] };
    const bridge = bridgeCsdk(kernel, { session, runId: 'r-1', prompt: 'Make both' });
    const query = await loadClaudeSdk(sdkFolder);
    const run = query({
      prompt: 'Make both',
      options: {
        canUseTool: bridge.canUseTool,
        hooks: bridge.hooks,
        cwd: lab.cwd,
        env: { ...lab.env },
        includePartialMessages: true,
        permissionMode: 'default',
        settingSources: [],
      },
    });
    const events: SessionEvent[] = [];
    for await (const event of bridge.run(run)) events.push(event);
    expect(checkOrdering(events)).toEqual([]);
    expect(streamedTexts(events)).toEqual(lab.api.sent);
    const made = ['a', 'b', 'c'].filter((file) => existsSync(join(lab.cwd, file)));
    expect(made).toEqual(['c']);
    expect(lab.api.requests[1]?.messages.at(-1)).toContain('Not b.');
    const count = (family: string) => outcomes.filter(({ event }) => event.family === family);
    expect(count('agent.tool.calling')).toHaveLength(2);
    expect(count('agent.tool.called')).toHaveLength(2);
    expect(count('agent.completed')).toMatchObject([{ payload: { success: true } }]);
  });
});
