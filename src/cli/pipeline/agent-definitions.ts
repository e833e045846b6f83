import type { AgentDefinition } from '@sluice/host';
import type { ExtensionSet } from '@sluice/sdk/extension';
import type { AgentProvider } from '@sluice/sdk/stream';
import { definedFields, getOrMake } from 'sluice-kernel/internal';
import { badArguments } from '../errors/command-error.js';
import { noAgent } from '../settings/agent-choice.js';
import type { AgentSetting, Settings } from '../settings/settings.js';
import type { AgentContext, AgentKind, Shell } from '../shell/shell.js';
import { packageHints } from './channel-packages.js';

/** The extensions that may provide agents. */
type Providing = Pick<ExtensionSet, 'live'>;

/**
 * Makes the agents of the settings. Agents of one kind share a provider, since `agent.model.resolving` knows a provider
 * by its name; each of them keeps its model.
 *
 * @throws CommandError `bad-arguments`; what the makers of the agents throw.
 */
export async function agentDefinitions(
  { agents, defaultAgent, gateway }: Pick<Settings, 'agents' | 'defaultAgent' | 'gateway'>,
  extensions: Providing,
  { additions, ...context }: Omit<AgentContext, 'gateway'> & Pick<Shell, 'additions'>,
): Promise<AgentDefinition[]> {
  mustBeDistinct(extensions);
  const known = [...agents.map(({ id }) => id), ...providedAgents(extensions).keys()];
  if (defaultAgent !== undefined && !known.includes(defaultAgent))
    throw noAgent(defaultAgent, additions, known);
  const providers = new Map<AgentKind, Promise<AgentProvider>>();
  const definitions: AgentDefinition[] = [];
  for (const { choice, ...agent } of agents) {
    if (choice.kind === 'provided') {
      definitions.push(providedAgent(choice.agentId, agent, extensions, context.cwd, additions));
      continue;
    }
    const { kind, rest } = choice;
    const provider = await getOrMake(providers, kind, async () => {
      const named = agents.flatMap((one) => (one.choice.kind === kind ? one.choice : []));
      const { makeAgent } = await kind.load();
      return makeAgent(named, { ...context, gateway });
    });
    const model = kind.namesModel === true ? rest : undefined;
    definitions.push({ ...agent, provider, ...definedFields({ model }) });
  }
  return definitions;
}

/**
 * An agent that an extension provides: with each turn the version that is live then, so that a reload reaches it.
 *
 * @param own the settings of the config, which win over the fields of the extension.
 * @param folder the folder in which its package would be installed.
 */
function providedAgent(
  agentId: string,
  own: Omit<AgentSetting, 'choice'>,
  extensions: Providing,
  folder: string,
  additions: Shell['additions'],
): AgentDefinition {
  const first = providedAgents(extensions).get(agentId);
  const [, scheme] = /^([^:]*):/.exec(agentId) ?? [];
  const hints = packageHints('agent', agentId, scheme && `sluice-${scheme}`, folder);
  if (first === undefined)
    throw noAgent(agentId, additions, [...providedAgents(extensions).keys()], hints);
  let known = first; // also while a reload has taken it away
  const now = (): AgentDefinition => {
    known = providedAgents(extensions).get(agentId) ?? known;
    return known;
  };
  const provider = live<AgentProvider>(() => now().provider, {
    id: first.provider.id,
    run: (request) => {
      if (providedAgents(extensions).has(agentId)) return now().provider.run(request);
      throw new Error(`no extension provides the agent "${agentId}" any more`);
    },
  });
  return live(now, { provider, ...own });
}

/** An object with some fields of its own. It has each other field as another object has it when it is read. */
function live<T extends object>(now: () => T, fixed: Partial<T>): T {
  return new Proxy<T>(
    { ...now(), ...fixed },
    {
      get: (_, field) => {
        const owner = Object.hasOwn(fixed, field) ? fixed : now();
        const value: unknown = Reflect.get(owner, field);
        return typeof value === 'function' ? value.bind(owner) : value;
      },
    },
  );
}

/** The agents that live extensions provide, by id; of two with one id the first, which the host has. */
export function providedAgents({ live }: Providing): ReadonlyMap<string, AgentDefinition> {
  const all = live.flatMap((one) => one.provided('agent'));
  return new Map(all.map((agent) => [agent.id, agent] as const).toReversed());
}

/** @throws CommandError `bad-arguments` if two of them have one id. */
function mustBeDistinct({ live }: Providing): void {
  const owners = new Map<string, string>();
  for (const extension of live)
    for (const { id } of extension.provided('agent')) {
      const owner = owners.get(id);
      if (owner !== undefined)
        throw badArguments(
          `the extensions "${owner}" and "${extension.extensionId}" both provide an agent "${id}"`,
          'Load one of them, or give one of the agents another id.',
        );
      owners.set(id, extension.extensionId);
    }
}
