import {
  OpenClawAgentProvider,
  type OpenClawAgentProviderOptions,
} from '../../src/openclaw/gateway/index.js';
import type { AgentTrigger, StreamDelta } from '../../src/sdk/stream/index.js';
import { type GatewayLab, type GatewayLabOptions, gatewayLab } from './gateway-lab.js';
import { until } from './gateway-server.js';

/** A gateway, a client and an agent behind them. Runs are `r-1`, `r-2`, ... */
export interface ProviderLab extends GatewayLab {
  readonly agent: OpenClawAgentProvider;
  /** Waits until so many messages were acknowledged, and the client knows it. */
  acknowledged(count?: number): Promise<void>;
  /** Triggers the agent, and waits until the message was acknowledged. @returns the deltas to come. */
  asked(
    ...trigger: Partial<Parameters<typeof triggerOf>>
  ): Promise<{ readonly deltas: Promise<StreamDelta[]> }>;
  /** Waits until the client has nothing to read: what was sent before has been told. */
  settled(): Promise<void>;
}

export interface ProviderLabOptions extends GatewayLabOptions {
  readonly agent?: Partial<OpenClawAgentProviderOptions>;
}

export async function providerLab(options: ProviderLabOptions = {}): Promise<ProviderLab> {
  const lab = await gatewayLab(options);
  let runs = 0;
  const agent = new OpenClawAgentProvider({
    client: lab.client,
    agentId: 'main',
    newId: () => `r-${++runs}`,
    logger: lab.log,
    ...options.agent,
  });
  const acknowledged = (count = 1): Promise<void> =>
    until(
      () =>
        lab.server.sent('chat.send').length === count && lab.client.stats().pendingRequests === 0,
    );
  return {
    ...lab,
    agent,
    acknowledged,
    asked: async (text = 'hello', fields = {}) => {
      const count = lab.server.sent('chat.send').length + 1;
      const deltas = all(agent.triggerStream(triggerOf(text, fields)));
      await acknowledged(count);
      return { deltas };
    },
    settled: async () => {
      await lab.client.request('health'); // answered after all that was sent before it
    },
  };
}

/** What is said to an agent. */
export function triggerOf(text: string, fields: Partial<AgentTrigger> = {}): AgentTrigger {
  return {
    type: 'dm',
    source: { channelType: 'console', instanceId: 'default', chatId: 'c-1', messageId: 'm-1' },
    sender: { platformUserId: 'u-1' },
    content: { text },
    sessionId: 's-1',
    ...fields,
  };
}

/** All that a stream gives. */
export async function all<T>(stream: AsyncIterable<T>): Promise<T[]> {
  const items: T[] = [];
  for await (const item of stream) items.push(item);
  return items;
}

/** Whether a client holds nothing of any run. */
export function leftOf({ client }: Pick<GatewayLab, 'client'>) {
  const { agentRuns, chatRuns, claimedRuns, pendingRequests, listeners, earlyEvents } =
    client.stats();
  return { agentRuns, chatRuns, claimedRuns, pendingRequests, listeners, earlyEvents };
}

/** Nothing. */
export const nothingLeft = {
  agentRuns: 0,
  chatRuns: 0,
  claimedRuns: 0,
  pendingRequests: 0,
  listeners: 0,
  earlyEvents: 0,
};
