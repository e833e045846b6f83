import { createHost, type Host } from '../../../../src/host/index.js';
import type { Kernel, Logger } from '../../../../src/kernel/internal.js';
import type { LegacyPlugin } from '../../../../src/openclaw/index.js';
import type { AgentTool } from '../../../../src/sdk/stream/index.js';
import {
  type AgentStep,
  type FakeChannel,
  fakeChannel,
  scriptedAgent,
} from '../../../../src/testing/index.js';

/** A host that runs a plugin, with a channel of its own that people write to it by. */
export class TrialHost {
  readonly host: Host;
  readonly #channel: FakeChannel = fakeChannel({ id: 'trial' });
  readonly #waiting = new Map<string, (status: string) => void>();
  /** The turns of the agent: the next one is the last of them. */
  readonly #turns: AgentStep[][] = [];
  readonly #agent = scriptedAgent(this.#turns);
  #said = 0;

  constructor(kernel: Kernel, plugin: LegacyPlugin, logger: Logger) {
    this.host = createHost({
      kernel,
      logger,
      agents: [{ id: 'main', provider: this.#agent }],
      channels: [this.#channel],
      plugins: [plugin],
      onMessageEnd: ({ updateId, status }) => this.#waiting.get(updateId ?? '')?.(status),
    });
  }

  async start(): Promise<void> {
    await this.host.start();
  }

  async stop(): Promise<undefined> {
    await this.host.stop({ timeoutMs: 1_000 });
  }

  /** The tools that the agent is given. */
  async toolsOfAgent(): Promise<readonly AgentTool[]> {
    await this.#turn(['hello']);
    return this.#agent.requests.at(-1)?.tools ?? [];
  }

  /** Lets the agent call a tool. */
  async use(tool: string, args: Readonly<Record<string, unknown>>): Promise<void> {
    await this.#turn([{ tool, args }]);
  }

  async #turn(steps: AgentStep[]): Promise<void> {
    while (this.#turns.length < this.#agent.requests.length) this.#turns.push([]);
    this.#turns.push(steps);
    await this.say('hello');
  }

  /** Says a text as an authorized person. @returns how the message ended, and the texts that came back. */
  async say(
    text: string,
  ): Promise<{ readonly status: string; readonly replies: readonly string[] }> {
    const updateId = `said-${++this.#said}`;
    const ended = new Promise<string>((resolve) => void this.#waiting.set(updateId, resolve));
    const before = this.#channel.sent.length;
    await this.#channel.receive({ text, commandAuthorized: true }, updateId);
    const status = await ended;
    return { status, replies: this.#channel.sent.slice(before).map(({ content }) => content) };
  }
}
