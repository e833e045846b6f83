import { resolve } from 'node:path';
import { CommandError } from './command-error.js';

/** The agent that answers: the built-in echo, or a recorded stream. */
export type AgentChoice =
  | { readonly kind: 'echo' }
  | { readonly kind: 'replay'; readonly file: string };

/**
 * Reads `echo` or `replay:FILE`. The file is looked for from a folder.
 *
 * @throws CommandError `bad-arguments`.
 */
export function agentChoice(text: string, folder: string): AgentChoice {
  if (text === 'echo') return { kind: 'echo' };
  const file = /^replay:(.+)$/.exec(text)?.[1];
  if (file !== undefined) return { kind: 'replay', file: resolve(folder, file) };
  throw new CommandError(
    'bad-arguments',
    `there is no agent "${text}"`,
    'Agents: echo, and replay:FILE with a recorded stream.',
  );
}
