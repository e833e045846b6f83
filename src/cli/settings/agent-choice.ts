import { agentPackages, packageAgentForms } from '@sluice/host/internal';
import { nearest } from 'sluice-kernel/internal';
import { badArguments, type CommandError } from '../errors/command-error.js';
import type { Addition, AgentKind, NamedAgent } from '../shell/shell.js';

/** An agent of a kind that the command line or an addition has. */
interface KnownAgent extends NamedAgent {
  readonly kind: AgentKind;
}

/** The agent that answers: one of a known kind, or one that an extension provides. */
export type AgentChoice = KnownAgent | { readonly kind: 'provided'; readonly agentId: string };

const echo: AgentKind = {
  name: 'echo',
  forms: ['echo'],
  form: /^echo$/,
  load: async () => {
    const { echoProvider } = await import('@sluice/agent');
    return { makeAgent: async () => echoProvider() };
  },
};

function agentKinds(additions: readonly Addition[]): readonly AgentKind[] {
  return [echo, ...additions.flatMap(({ agents = [] }) => agents)];
}

/** The ways to write an agent: first those on this machine, at last those behind a gateway. */
export function agentForms(additions: readonly Addition[]): string {
  const kinds = agentKinds(additions);
  const formsOf = (isBehindGateway: boolean): readonly string[] =>
    kinds
      .filter((kind) => (kind.isBehindGateway ?? false) === isBehindGateway)
      .flatMap(({ forms }) => forms);
  const all = [...formsOf(false), ...packageAgentForms, ...formsOf(true)];
  return `${all.join(', ')}, and the id of an agent that an extension provides`;
}

/**
 * Reads the name of a known agent, such as `echo`, an agent of a package such as `openai:MODEL@URL`, or the id of an agent that an
 * extension provides, with or without `ext:` before it.
 *
 * @param folder the folder that a path in the name starts at.
 * @throws CommandError `bad-arguments`.
 */
export function agentChoice(
  text: string,
  folder: string,
  additions: readonly Addition[],
): AgentChoice {
  const [, scheme = '', rest] = /^([^:]*)(?::(.+))?$/.exec(text) ?? [];
  const kind = agentKinds(additions).find(({ form }) => form.test(text));
  if (kind !== undefined) return { kind, rest, folder };
  if (rest !== undefined && Object.hasOwn(agentPackages, scheme))
    return { kind: 'provided', agentId: text };
  const [, agentId] = /^(?:ext:)?([\w.-]+)$/.exec(text) ?? [];
  if (agentId !== undefined) return { kind: 'provided', agentId };
  throw noAgent(text, additions);
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
  additions: readonly Addition[],
  provided: readonly string[] = [],
  more: readonly string[] = [],
): CommandError {
  const named = agentKinds(additions).flatMap((kind) =>
    kind.form.test(kind.name) ? kind.name : [],
  );
  const close = nearest(name, [...provided, ...named]);
  const hint = close === undefined ? '' : `Did you mean "${close}"? `;
  const own = provided.length === 0 ? '' : ` The extensions provide: ${provided.join(', ')}.`;
  const message = `there is no agent "${name}"`;
  return badArguments(
    message,
    [`${hint}Agents: ${agentForms(additions)}.${own}`, ...more].join(' '),
  );
}
