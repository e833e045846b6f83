import { agentPackages, packageAgentForms } from '../../host/internal.js';
import { nearest } from '../../kernel/index.js';
import { badArguments, type CommandError } from '../errors/command-error.js';
import { recordingPath } from './recording-file.js';

/** An agent that comes with Sluice: the echo, a recorded stream, Claude, or one behind an OpenClaw gateway. */
export type BuiltInAgent =
  | { readonly kind: 'echo' }
  | { readonly kind: 'replay'; readonly file: string }
  | { readonly kind: 'claude'; readonly models: readonly string[] }
  | { readonly kind: 'openclaw'; readonly agentId: string };

/** The agent that answers: a built-in one, or one that an extension provides. */
export type AgentChoice = BuiltInAgent | { readonly kind: 'provided'; readonly agentId: string };

/** The ways to write an agent. */
export const agentForms = `echo, replay:FILE with a recorded stream, claude, claude:MODEL, ${packageAgentForms.join(', ')}, openclaw, openclaw:AGENT, and the id of an agent that an extension provides`;

/**
 * Reads `echo`, `replay:FILE`, `claude`, `claude:MODEL`, `openclaw`, `openclaw:AGENT`, an agent of a package such as
 * `openai:MODEL@URL`, or the id of an agent that an extension provides, with or without `ext:` before it. The path of the file starts at a folder.
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
  if (rest !== undefined && Object.hasOwn(agentPackages, kind ?? ''))
    return { kind: 'provided', agentId: text };
  const [, agentId] = /^(?:ext:)?([\w.-]+)$/.exec(text) ?? [];
  if (agentId !== undefined) return { kind: 'provided', agentId };
  throw noAgent(text);
}

/** The agents of packages that are chosen, by scheme: what their names say behind the colon. */
export function askedOfPackages(
  agents: readonly { readonly choice: AgentChoice }[],
): ReadonlyMap<string, readonly string[]> {
  const asked = new Map<string, string[]>();
  for (const { choice } of agents) {
    if (choice.kind !== 'provided') continue;
    const [, scheme = '', rest] = /^([^:]*):(.+)$/.exec(choice.agentId) ?? [];
    if (rest !== undefined) asked.set(scheme, [...new Set([...(asked.get(scheme) ?? []), rest])]);
  }
  return asked;
}

/** The error of an agent that is not there. @param more tells about its package. */
export function noAgent(
  name: string,
  provided: readonly string[] = [],
  more: readonly string[] = [],
): CommandError {
  const close = nearest(name, [...provided, 'echo', 'claude', 'openclaw']);
  const hint = close === undefined ? '' : `Did you mean "${close}"? `;
  const own = provided.length === 0 ? '' : ` The extensions provide: ${provided.join(', ')}.`;
  const message = `there is no agent "${name}"`;
  return badArguments(message, [`${hint}Agents: ${agentForms}.${own}`, ...more].join(' '));
}
