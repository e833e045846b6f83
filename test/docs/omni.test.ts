import { describe, expect, it, vi } from 'vitest';
import { fromOmniAgent } from '../../docs/examples/omni-agent.js';
import { fromOmniChannel } from '../../docs/examples/omni-channel.js';
import { hostOf } from '../../docs/examples/omni-host.js';
import type { AgentTrigger, StreamDelta } from '../../src/sdk/stream/index.js';
import { agentConformance, channelConformance } from '../../src/testing/index.js';

/** The trigger of Omni: it always has a trace and the event that it comes of, and stops by `abortSignal`. */
interface OmniTrigger {
  traceId: string;
  type: 'mention' | 'reaction' | 'dm' | 'reply' | 'name_match' | 'command';
  event: { id?: string };
  source: {
    channelType: string;
    instanceId: string;
    chatId: string;
    messageId: string;
    threadId?: string;
  };
  sender: { platformUserId: string; personId?: string; displayName?: string };
  content: { text?: string; emoji?: string; referencedMessageId?: string };
  sessionId: string;
  contextMessages?: string[];
  abortSignal?: AbortSignal;
}

/** The members of an agent of Omni. */
interface OmniAgentProvider {
  readonly id: string;
  readonly name: string;
  readonly schema: string;
  readonly mode: 'round-trip' | 'fire-and-forget';
  canHandle(trigger: OmniTrigger): boolean;
  trigger(context: OmniTrigger): Promise<{
    parts: string[];
    metadata: { runId: string; providerId: string; durationMs: number };
  } | null>;
  triggerStream?(context: OmniTrigger): AsyncGenerator<StreamDelta>;
  checkHealth(): Promise<{ healthy: boolean; latencyMs: number; error?: string }>;
  dispose?(): Promise<void>;
}

interface OmniContext {
  eventBus: {
    publish(type: string, payload: object, metadata?: { instanceId?: string }): Promise<unknown>;
  };
  storage: Map<string, unknown>;
}

interface InstanceConfig {
  instanceId: string;
  credentials: Record<string, unknown>;
}

/** The members of a channel of Omni that each one has. */
interface OmniChannelPlugin {
  readonly id: string;
  readonly name: string;
  readonly version: string;
  readonly capabilities: { canSendText: boolean };
  initialize(context: OmniContext): Promise<void>;
  destroy(): Promise<void>;
  connect(instanceId: string, config: InstanceConfig): Promise<void>;
  disconnect(instanceId: string): Promise<void>;
  getConnectedInstances(): string[];
  sendMessage(
    instanceId: string,
    message: { to: string; content: { type: string; text?: string }; replyTo?: string },
  ): Promise<{ success: boolean; messageId?: string; error?: string; timestamp: number }>;
}

const base = {
  ...{ id: 'omni', name: 'Omni', schema: 'agno', mode: 'round-trip' as const },
  canHandle: () => true,
  checkHealth: async () => ({ healthy: true, latencyMs: 1 }),
};

const metadata = { runId: 'r', providerId: 'omni', durationMs: 1 };

/** An agent that answers whole. */
function whole(triggers: OmniTrigger[] = []): OmniAgentProvider {
  return {
    ...base,
    trigger: async (context) => {
      triggers.push(context);
      return { parts: [`heard ${context.content.text}`, 'Bye.'], metadata };
    },
  };
}

/** An agent whose answer grows, and is said anew once. */
const growing: OmniAgentProvider = {
  ...base,
  trigger: async () => null,
  async *triggerStream() {
    yield { phase: 'thinking', thinking: 'Hm.', thinkingElapsedMs: 1 };
    yield { phase: 'content', content: 'Li' };
    yield { phase: 'content', content: 'Lima' };
    yield { phase: 'final', content: 'Quito.' };
  },
};

function channel() {
  const sent: unknown[] = [];
  let bus: OmniContext['eventBus'] | undefined;
  const open = new Set<string>();
  const omni: OmniChannelPlugin = {
    ...{ id: 'omni', name: 'Omni', version: '1.0.0', capabilities: { canSendText: true } },
    initialize: async ({ eventBus }) => {
      bus = eventBus;
    },
    destroy: async () => undefined,
    connect: async (instanceId, { credentials }) => {
      if (credentials['token'] !== 'x') throw new Error('no token');
      open.add(instanceId);
    },
    disconnect: async (instanceId) => void open.delete(instanceId),
    getConnectedInstances: () => [...open],
    sendMessage: async (instanceId, { to, content, replyTo }) => {
      sent.push([instanceId, to, content.text, replyTo]);
      return { success: true, messageId: `m-${sent.length}`, timestamp: 0 };
    },
  };
  const wrapped = fromOmniChannel<OmniContext>(
    omni,
    { main: { instanceId: 'main', credentials: { token: 'x' } } },
    (publish) => ({
      eventBus: { publish: (type, payload, about) => publish(type, payload as never, about) },
      storage: new Map(),
    }),
  );
  const say = (externalId: string, text: string) =>
    bus?.publish(
      'message.received',
      { externalId, chatId: 'c-1', from: 'ada', content: { type: 'text', text } },
      { instanceId: 'main' },
    );
  return { wrapped, say, sent, open };
}

describe('what is wrapped from Omni (docs/omni.md)', () => {
  it('answers in a host: messages of the bus reach the agent, and its answer the channel', async () => {
    const triggers: OmniTrigger[] = [];
    const { wrapped, say, sent, open } = channel();
    const host = await hostOf(wrapped, fromOmniAgent(whole(triggers)));
    await say('u-1', 'tea');
    await vi.waitFor(() => expect(sent).toHaveLength(1), 60_000);
    expect(sent).toEqual([['main', 'c-1', 'heard tea\n\nBye.', 'u-1']]);
    expect(triggers[0]?.abortSignal?.aborted).toBe(false);
    await host.stop();
    expect([...open]).toEqual([]);
  });

  it('has an agent whose text grows, and begins anew if it is said anew', async () => {
    const { wrapped, say, sent } = channel();
    const host = await hostOf(wrapped, fromOmniAgent(growing));
    await say('u-1', 'tea');
    await vi.waitFor(() => expect(sent).toHaveLength(2), 60_000);
    expect(sent).toEqual([
      ['main', 'c-1', 'Lima', 'u-1'],
      ['main', 'c-1', 'Quito.', 'u-1'],
    ]);
    await host.stop();
  });

  it('has an agent that may have nothing to say: nobody is told that it failed', async () => {
    const { wrapped, say, sent } = channel();
    const answers = [null, { parts: ['Yes.'], metadata }];
    const quiet = { ...base, trigger: async () => answers.shift() ?? null };
    const host = await hostOf(wrapped, fromOmniAgent(quiet));
    await say('u-1', 'hm');
    await say('u-2', 'are you there?');
    await vi.waitFor(() => expect(sent).not.toEqual([]), 60_000);
    expect(sent).toEqual([['main', 'c-1', 'Yes.', 'u-2']]);
    await host.stop();
  });

  it('has triggers that the types of both sides take', () => {
    const ours = (trigger: AgentTrigger): AgentTrigger => trigger;
    const theirs: OmniTrigger = {
      ...{ traceId: 't', type: 'dm', event: {}, sessionId: 's', content: { text: 'tea' } },
      source: { channelType: 'slack', instanceId: 'i', chatId: 'c', messageId: 'm' },
      sender: { platformUserId: 'u' },
      abortSignal: AbortSignal.abort(),
    };
    expect(ours(theirs).abortSignal?.aborted).toBe(true);
  });

  it.each([
    ['answers whole', whole()],
    ['grows', growing],
  ])('keeps the contract of agents if the agent %s', async (_, omni) => {
    const checks = agentConformance(() => ({ provider: fromOmniAgent(omni), text: 'say hello' }));
    for (const { run } of checks) await run();
  });

  it('keeps the contract of channels', async () => {
    const checks = channelConformance(() => {
      const { wrapped, say, sent } = channel();
      return {
        ...{ channel: wrapped, to: 'c-1' },
        deliver: (text, updateId) => void say(updateId, text),
        shown: () => sent.map((one) => String((one as readonly unknown[])[2])),
      };
    });
    for (const { run } of checks) await run();
  });
});
