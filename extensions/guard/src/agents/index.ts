import { claude } from './claude.js';
import type { AgentCodec } from './codec.js';
import { codex } from './codex.js';
import { copilot } from './copilot.js';
import { gemini } from './gemini.js';
import { opencode } from './opencode.js';

/** The agents that a guard knows, in the order of tables. */
export const agents: readonly AgentCodec[] = [claude, codex, gemini, copilot, opencode];

/** The codec of an agent; nothing if the guard does not know it. */
export function codecOf(name: string): AgentCodec | undefined {
  return agents.find(({ agent }) => agent === name);
}
