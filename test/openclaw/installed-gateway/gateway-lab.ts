import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { describe, inject } from 'vitest';
import {
  type ChatEvent,
  loadDeviceIdentity,
  OpenClawClient,
  type OpenClawClientOptions,
} from '../../../src/openclaw/gateway/index.js';
import type { AgentEventPayload, AgentTrigger } from '../../../src/sdk/stream/index.js';
import { collectingLogger } from '../../../src/testing/index.js';
import { MessagesApi, type Script } from '../../support/messages-api/messages-api.js';
import { GatewayProcess } from './gateway-process.js';

/** The release that this project runs, with its programs. */
export const release = inject('gateway');

/** A suite that needs the gateway. */
export const describeGateway = describe.skipIf(release === undefined);

/** What a client was told of one run, in order. */
export interface HeardRun {
  readonly agent: readonly AgentEventPayload[];
  readonly chat: readonly ChatEvent[];
  /** Resolves with the event that ended it: final, aborted or error. */
  readonly ended: Promise<ChatEvent>;
  /** Resolves with the first agent event that fits. */
  agentEvent(fits: (event: AgentEventPayload) => boolean): Promise<AgentEventPayload>;
}

/** The real gateway, a scripted model behind it, and a client with a device of its own before it. */
export class GatewayLab implements AsyncDisposable {
  readonly api: MessagesApi;
  readonly gateway: GatewayProcess;
  readonly logger = collectingLogger();
  readonly #clients: OpenClawClient[] = [];

  private constructor(api: MessagesApi, gateway: GatewayProcess) {
    this.api = api;
    this.gateway = gateway;
  }

  static async open(script: Script): Promise<GatewayLab> {
    if (release === undefined) throw new Error('the gateway is not installed');
    const api = await MessagesApi.start(script);
    try {
      const files = { 'note.txt': 'Buy milk.' };
      const gateway = await GatewayProcess.start({ ...release, modelUrl: api.url, files });
      return new GatewayLab(api, gateway);
    } catch (error) {
      await api[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** A client of this gateway, started. It is not connected yet. */
  async client(options: Partial<OpenClawClientOptions> = {}): Promise<OpenClawClient> {
    const { url, token, folder } = this.gateway;
    const device = await loadDeviceIdentity(join(folder, 'device.pem'));
    const client = new OpenClawClient({ url, token, device, logger: this.logger, ...options });
    this.#clients.push(client);
    client.start();
    return client;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const client of this.#clients) await client.stop();
    await this.gateway[Symbol.asyncDispose]();
    await this.api[Symbol.asyncDispose]();
  }
}

/** Registers a run, and keeps what is told of it. */
export function hearRun(client: OpenClawClient, runId: string): HeardRun {
  const agent: AgentEventPayload[] = [];
  const chat: ChatEvent[] = [];
  const waiting = new Set<(event: AgentEventPayload) => void>();
  const ended = new Promise<ChatEvent>((resolve) => {
    client.registerChatAccumulation(runId, (event) => {
      chat.push(event);
      if (event.state !== 'delta') resolve(event);
    });
  });
  client.registerAgentAccumulation(runId, (event) => {
    agent.push(event);
    for (const told of waiting) told(event);
  });
  return {
    agent,
    chat,
    ended,
    agentEvent: (fits) =>
      new Promise((resolve) => {
        const earlier = agent.find(fits);
        if (earlier !== undefined) return resolve(earlier);
        const told = (event: AgentEventPayload): void => {
          if (!fits(event)) return;
          waiting.delete(told);
          resolve(event);
        };
        waiting.add(told);
      }),
  };
}

/** A message for an agent, in a session of its own. */
export function triggerOf(text: string): AgentTrigger {
  return {
    type: 'dm',
    source: { channelType: 'test', instanceId: 'a', chatId: 'c', messageId: randomUUID() },
    sender: { platformUserId: 'ada', displayName: 'Ada' },
    content: { text },
    sessionId: randomUUID(),
  };
}
