import type { AgentDefinition } from '../../host/index.js';
import { definedFields } from '../../kernel/index.js';
import type { AgentProvider } from '../../stream/index.js';
import { badArguments } from '../errors/command-error.js';
import type { AgentChoice } from '../settings/agent-choice.js';
import type { AgentSetting } from '../settings/settings.js';
import { type AgentProviderOptions, agentProvider } from './agent-provider.js';

/**
 * Makes the agents of the settings. Agents of one kind share a provider, since `agent.model.resolving` knows a provider
 * by its name; each of them keeps its model.
 *
 * @throws CommandError `bad-arguments`, `missing-file`, `unreadable-file` or `missing-package`; what the gateway's client throws.
 */
export async function agentDefinitions(
  agents: readonly AgentSetting[],
  options: AgentProviderOptions,
): Promise<AgentDefinition[]> {
  mustShareGateway(agents);
  const providers = new Map<AgentChoice['kind'], AgentProvider>();
  const definitions: AgentDefinition[] = [];
  for (const { choice, ...agent } of agents) {
    const provider =
      providers.get(choice.kind) ?? (await agentProvider(sharedChoice(choice, agents), options));
    providers.set(choice.kind, provider);
    const model = choice.kind === 'claude' ? choice.models[0] : undefined;
    definitions.push({ ...agent, provider, ...definedFields({ model }) });
  }
  return definitions;
}

/** A gateway's agent is a provider of its own, and all of them would have one name. */
function mustShareGateway(agents: readonly AgentSetting[]): void {
  const named = agents.flatMap(({ choice }) => (choice.kind === 'openclaw' ? choice.agentId : []));
  const [first, other] = new Set(named);
  if (other === undefined) return;
  throw badArguments(
    `the agents "${first}" and "${other}" of a gateway cannot answer in one host`,
    'Keep one of them, and start a host of its own for the other.',
  );
}

/** A provider that serves every agent of its kind. An agent that names no model gets the one that Claude would use. */
function sharedChoice(choice: AgentChoice, agents: readonly AgentSetting[]): AgentChoice {
  if (choice.kind !== 'claude') return choice;
  const wanted = agents.flatMap((agent) => (agent.choice.kind === 'claude' ? [agent.choice] : []));
  const named = [...new Set(wanted.flatMap(({ models }) => models))];
  if (named.length === 0) return choice;
  const isDefaultWanted = wanted.some(({ models }) => models.length === 0);
  return { ...choice, models: isDefaultWanted ? ['default', ...named] : named };
}
