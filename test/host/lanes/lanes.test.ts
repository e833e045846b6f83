import { describe, expect, it } from 'vitest';
import { Lanes } from '../../../src/host/lanes/lanes.js';
import { select } from '../../../src/kernel/internal.js';
import type { AgentProvider, AgentRequest } from '../../../src/sdk/stream/index.js';
import { hostLab } from '../../support/host-lab.js';

/** An agent that answers when the test says so. */
function heldAgent() {
  const held = new Map<string, () => void>();
  const begun: string[] = [];
  const provider: AgentProvider = {
    id: 'held',
    models: ['m'],
    toolGate: 'enforce',
    async *run({ prompt }: AgentRequest) {
      begun.push(prompt);
      await new Promise<void>((resolve) => held.set(prompt, resolve));
      const content = [{ type: 'text', text: `re: ${prompt}` }] as const;
      yield { type: 'message_end', message: { role: 'assistant', content } };
      yield { type: 'agent_end', messages: [] };
    },
  };
  return { provider, begun, release: (prompt: string) => held.get(prompt)?.() };
}

describe('messages', () => {
  it('of one conversation are answered in order, those of others side by side', async () => {
    const { provider, begun, release } = heldAgent();
    await using lab = await hostLab({ agents: [{ id: 'main', provider }] });
    const one = lab.say({ text: 'one', conversation: 'a' });
    const two = lab.say({ text: 'two', conversation: 'a' });
    const three = lab.say({ text: 'three', conversation: 'b' });
    await lab.clock.advance(0);
    expect(begun).toEqual(['one', 'three']);
    release('three');
    await three;
    release('one');
    await one;
    await lab.clock.advance(0);
    expect(begun).toEqual(['one', 'three', 'two']);
    release('two');
    await two;
    expect(lab.texts()).toEqual(['re: three', 're: one', 're: two']);
  });

  it('of two conversations that share a session take turns', async () => {
    const { provider, begun, release } = heldAgent();
    await using lab = await hostLab({
      agents: [{ id: 'main', provider }],
      contribute: (kernel) =>
        kernel.contribute({
          ...{ extensionId: 'test', id: 'shared', class: 'resolver' },
          family: 'routing.resolving',
          handler: () => select({ agentId: 'main', sessionKey: 'shared' }),
        }),
    });
    const one = lab.say({ text: 'one', conversation: 'a' });
    const two = lab.say({ text: 'two', conversation: 'b' });
    await lab.clock.advance(0);
    expect(begun).toEqual(['one']);
    release('one');
    await one;
    await lab.clock.advance(0);
    release('two');
    expect((await two).status).toBe('answered');
    expect(lab.of('session.started')).toHaveLength(1);
  });

  it('of one conversation keep their order however long a stage before the turn takes', async () => {
    await using lab = await hostLab({
      contribute: (kernel) =>
        kernel.contribute({
          family: 'ingress.normalized',
          class: 'observer',
          extensionId: 'test',
          id: 'slow-first',
          handler: ({ payload }) =>
            payload.content === 'one'
              ? new Promise((resolve) => lab.clock.setTimeout(() => resolve(), 1_000))
              : undefined,
        }),
    });
    const both = [lab.say('one'), lab.say('two')];
    await lab.clock.advance(1_000);
    await Promise.all(both);
    expect(lab.texts()).toEqual(['one', 'two']);
  });
});

describe('lanes', () => {
  it('go on after a job that fails', async () => {
    const lanes = new Lanes();
    const failed = lanes.run('a', async () => Promise.reject(new Error('no')));
    const next = lanes.run('a', async () => 'next');
    await expect(failed).rejects.toThrow('no');
    expect(await next).toBe('next');
  });
});
