import { claude } from './claude.js';
import type { AgentCodec } from './codec.js';

/** The agents that a guard knows, by the order of their names in tables. */
export const agents: readonly AgentCodec[] = [claude];

/** The codec of an agent; nothing if the guard does not know it. */
export function codecOf(name: string): AgentCodec | undefined {
  return agents.find(({ agent }) => agent === name);
}
