import { describe, expect, it } from 'vitest';
import { agentDefinitions } from '../../../src/cli/pipeline/agent-definitions.js';
import type { AgentDefinition } from '../../../src/host/index.js';
import { defineExtension, ExtensionSet, givenSource } from '../../../src/sdk/extension/index.js';
import type { AgentProvider } from '../../../src/sdk/stream/index.js';
import { createTestKernel, scriptedAgent } from '../../../src/testing/index.js';
import { agentOptions } from './agent-options.js';

/** The agents of a config that names `ext:gpt`, with extensions that provide `gpt`. */
async function lab(...providers: (() => AgentProvider)[]) {
  return labOf(...providers.map((make) => () => ({ provider: make() })));
}

async function labOf(...agents: (() => Omit<AgentDefinition, 'id'>)[]) {
  const extensions = new ExtensionSet(createTestKernel().kernel);
  for (const [at, make] of agents.entries())
    await extensions.add(
      givenSource(
        defineExtension({
          id: `models-${at}`,
          setup: (api) => api.provide('agent', { id: 'gpt', ...make() }),
        }),
      ),
    );
  const making = agentDefinitions(
    {
      agents: [{ id: 'main', choice: { kind: 'provided', agentId: 'gpt' } }],
      defaultAgent: 'gpt',
      gateway: { url: '' },
    },
    extensions,
    agentOptions('.'),
  );
  return { extensions, making };
}

describe('an agent of the config that an extension provides', () => {
  it('has the models and the gate of the version that is live (§13.5)', async () => {
    const providers: AgentProvider[] = [
      { ...scriptedAgent([]), id: 'gpt', models: ['old'] },
      { ...scriptedAgent([]), id: 'gpt', models: ['new'], toolGate: 'observe-only' },
    ];
    const { extensions, making } = await lab(() => providers.shift() ?? scriptedAgent([]));
    const [agent] = await making;
    const seen = () => [agent?.provider.models, agent?.provider.toolGate];
    expect(seen()).toEqual([['old'], 'enforce']);
    await extensions.reload('models-0');
    expect(seen()).toEqual([['new'], 'observe-only']);
  });

  it('has the prompt, the model and the time of the version that is live, but for those of the config (§13.5)', async () => {
    const provider = { ...scriptedAgent([]), models: ['old', 'new'] };
    const versions = [
      Object.freeze({ provider, model: 'old', systemPrompt: 'Be brief.', timeoutMs: 1_000 }),
      Object.freeze({ provider, model: 'new', systemPrompt: 'Be kind.' }),
    ];
    const { extensions, making } = await labOf(() => versions.shift() ?? { provider });
    const [agent] = await making;
    const seen = () => [agent?.id, agent?.model, agent?.systemPrompt, agent?.timeoutMs];
    expect(seen()).toEqual(['main', 'old', 'Be brief.', 1_000]);
    await extensions.reload('models-0');
    expect(seen()).toEqual(['main', 'new', 'Be kind.', undefined]);
  });

  it('is refused if two extensions provide one of its id, and the error names both (§13.5)', async () => {
    const { making } = await lab(
      () => scriptedAgent([]),
      () => scriptedAgent([]),
    );
    await expect(making).rejects.toMatchObject({
      code: 'bad-arguments',
      message: 'the extensions "models-0" and "models-1" both provide an agent "gpt"',
    });
  });
});
