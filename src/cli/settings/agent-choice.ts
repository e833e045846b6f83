import { badArguments } from '../errors/command-error.js';
import { recordingPath } from './recording-file.js';

/** The agent that answers: the built-in echo, a recorded stream, Claude, or one behind an OpenClaw gateway. */
export type AgentChoice =
  | { readonly kind: 'echo' }
  | { readonly kind: 'replay'; readonly file: string }
  | { readonly kind: 'claude'; readonly models: readonly string[] }
  | { readonly kind: 'openclaw'; readonly agentId: string };

/** The ways to write an agent. */
export const agentForms =
  'echo, replay:FILE with a recorded stream, claude, claude:MODEL, openclaw, and openclaw:AGENT';

/**
 * Reads `echo`, `replay:FILE`, `claude`, `claude:MODEL`, `openclaw` or `openclaw:AGENT`. The path of the file starts at a folder.
 *
 * @throws CommandError `bad-arguments`.
 */
export function agentChoice(text: string, folder: string): AgentChoice {
  const [, kind, rest] = /^([^:]*)(?::(.+))?$/.exec(text) ?? [];
  if (kind === 'echo' && rest === undefined) return { kind };
  if (kind === 'replay' && rest !== undefined) return { kind, file: recordingPath(rest, folder) };
  if (kind === 'claude') return { kind, models: rest === undefined ? [] : [rest] };
  if (kind === 'openclaw' && (rest === undefined || /^[\w-]+$/.test(rest)))
    return { kind, agentId: rest ?? 'main' };
  throw badArguments(
    `there is no agent "${text}"`,
    `A resolver of routing.resolving chooses an agent that an extension provides. Agents: ${agentForms}.`,
  );
}
