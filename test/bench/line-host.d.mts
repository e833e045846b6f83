import type { echoProvider } from '../../src/agent/index.js';
import type { createHost, Host, HostOptions } from '../../src/host/index.js';
import type { silentLogger } from '../../src/kernel/internal.js';
import type { AgentProvider } from '../../src/sdk/stream/index.js';

interface Modules {
  readonly createHost: typeof createHost;
  readonly echoProvider: typeof echoProvider;
  readonly silentLogger: typeof silentLogger;
}

export function agentNamed(
  name: 'plain' | 'echo',
  modules: Pick<Modules, 'echoProvider'>,
): AgentProvider;

/** A host with one agent: the echo agent, if the options name none. */
export interface LineHost {
  readonly host: Host;
  /** Says a line in a conversation. Resolves when it was answered. */
  readonly say: (from: string) => Promise<void>;
}

export function lineHost(modules: Modules, options?: Partial<HostOptions>): Promise<LineHost>;

/** What one message makes. */
export interface MessageSteps {
  readonly promises: number;
  readonly dispatches: number;
}

export function stepsOfMessage(lines: LineHost): Promise<MessageSteps>;
