import { describe, expect, it } from 'vitest';
import { cancel, type Kernel } from '../../../src/kernel/internal.js';
import type {
  AgentProvider,
  SessionMessage,
  ToolDefinition,
} from '../../../src/sdk/stream/index.js';
import { hostLab } from '../../support/host-lab.js';

const search: ToolDefinition = {
  name: 'search',
  description: 'Searches.',
  inputSchema: { type: 'object', properties: { for: { type: 'string' } }, required: ['for'] },
  execute: ({ for: word }) => `found ${String(word)}`,
};

/** An agent with a tool of its own, which it offers itself. */
function searching(args: Readonly<Record<string, unknown>> = { for: 'tea' }) {
  const answers: unknown[] = [];
  const written: (readonly SessionMessage[])[] = [];
  const provider: AgentProvider = {
    id: 'searching',
    models: ['m'],
    toolGate: 'enforce',
    async *run({ offer, written: soFar }) {
      const [tool] = offer([search]);
      const call = { toolCallId: 't-1', toolName: 'search', args };
      yield { type: 'agent_start' };
      const content = [{ type: 'toolCall' as const, id: 't-1', name: 'search', arguments: args }];
      const message = { role: 'assistant' as const, content };
      yield { type: 'message_start', message };
      yield { type: 'message_end', message };
      yield { type: 'tool_execution_start', ...call };
      const result = await tool?.call(call);
      answers.push(result);
      yield { type: 'tool_execution_end', ...call, result, isError: result?.isError === true };
      written.push(soFar());
      yield { type: 'agent_end', messages: [] };
    },
  };
  return { provider, answers, written };
}

async function turn(
  { provider }: { readonly provider: AgentProvider },
  contribute: (kernel: Kernel) => void = () => undefined,
) {
  await using lab = await hostLab({ agents: [{ id: 'main', provider }] });
  contribute(lab.kernel);
  await lab.say('search');
  return lab.of('agent.tool.calling').map(({ event, status }) => [event.payload.params, status]);
}

describe('a tool that a provider offers (event pipeline §16.26)', () => {
  it('runs as one of the host does, behind the same gate', async () => {
    const agent = searching();
    expect(await turn(agent)).toEqual([[{ for: 'tea' }, 'passed']]);
    expect(agent.answers).toEqual([
      { content: [{ type: 'text', text: 'found tea' }], isError: false },
    ]);
  });

  it('does not run if a veto refuses the call', async () => {
    const agent = searching();
    await turn(agent, (kernel) =>
      kernel.contribute({
        ...{ extensionId: 'test', id: 'guard', family: 'agent.tool.calling', class: 'veto' },
        handler: () => cancel('policy', { text: 'No searches.' }),
      }),
    );
    expect(agent.answers).toEqual([
      { content: [{ type: 'text', text: expect.stringContaining('No searches.') }], isError: true },
    ]);
  });

  it('does not run with arguments that its schema refuses', async () => {
    const agent = searching({ for: 3 });
    await turn(agent);
    expect(agent.answers).toMatchObject([{ isError: true }]);
    expect(JSON.stringify(agent.answers)).toContain('the tool did not run: arguments.for');
  });
});

describe('the messages that an attempt has written (event pipeline §16.26)', () => {
  it('are those that the transcript stages have passed, without the prompt', async () => {
    const agent = searching();
    await turn(agent, (kernel) =>
      kernel.contribute({
        ...{ extensionId: 'test', id: 'hide', class: 'mutator' },
        family: 'transcript.tool-result.persisting',
        handler: ({ payload: { message } }) => ({
          message: { ...message, content: [{ type: 'text', text: '[hidden]' }] },
        }),
      }),
    );
    expect(agent.written).toMatchObject([
      [
        { role: 'assistant', content: [{ type: 'toolCall' }] },
        { role: 'toolResult', toolCallId: 't-1', content: [{ type: 'text', text: '[hidden]' }] },
      ],
    ]);
  });
});
