import { cpSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  claudeProvider,
  echoProvider,
  loadClaudeSdk,
  readRecording,
  replayProvider,
} from '../../agent/index.js';
import type { AgentDefinition } from '../../host/index.js';
import { definedFields, isSluiceError, type Logger } from '../../kernel/index.js';
import type { OpenClawClient } from '../../openclaw/gateway/index.js';
import type { LegacyPlugin } from '../../openclaw/index.js';
import type { ExtensionSet } from '../../sdk/extension/index.js';
import type { AgentProvider } from '../../sdk/stream/index.js';
import { badArguments, CommandError } from '../errors/command-error.js';
import { fileError } from '../errors/file-error.js';
import { type BuiltInAgent, noAgent } from '../settings/agent-choice.js';
import { lineError } from '../settings/recording-file.js';
import type { AgentSetting, Settings } from '../settings/settings.js';
import { packageHints } from './channel-packages.js';

/** The agents that extensions provide. */
export interface ProvidedAgents {
  /** Those that are live now, by id; of two with one id the first, which the host has. */
  now(): ReadonlyMap<string, AgentDefinition>;
  /** @throws CommandError `bad-arguments` if two of them have one id. */
  mustBeDistinct(): void;
}

/**
 * Makes the agents of the settings. Agents of one kind share a provider, since `agent.model.resolving` knows a provider
 * by its name; each of them keeps its model.
 *
 * @throws CommandError `bad-arguments`, `missing-file`, `unreadable-file` or `missing-package`; what the gateway's client throws.
 */
export async function agentDefinitions(
  { agents, defaultAgent }: Pick<Settings, 'agents' | 'defaultAgent'>,
  provided: ProvidedAgents,
  options: AgentProviderOptions,
): Promise<AgentDefinition[]> {
  mustShareGateway(agents);
  provided.mustBeDistinct();
  const known = [...agents.map(({ id }) => id), ...provided.now().keys()];
  if (defaultAgent !== undefined && !known.includes(defaultAgent))
    throw noAgent(defaultAgent, known);
  const providers = new Map<BuiltInAgent['kind'], AgentProvider>();
  const definitions: AgentDefinition[] = [];
  for (const { choice, ...agent } of agents) {
    if (choice.kind === 'provided') {
      definitions.push(providedAgent(choice.agentId, agent, provided, options.cwd));
      continue;
    }
    const provider =
      providers.get(choice.kind) ?? (await agentProvider(sharedChoice(choice, agents), options));
    providers.set(choice.kind, provider);
    const model = choice.kind === 'claude' ? choice.models[0] : undefined;
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
  provided: ProvidedAgents,
  folder: string,
): AgentDefinition {
  const first = provided.now().get(agentId);
  const [, scheme] = /^([^:]*):/.exec(agentId) ?? [];
  const hints = packageHints('agent', agentId, scheme && `sluice-${scheme}`, folder);
  if (first === undefined) throw noAgent(agentId, [...provided.now().keys()], hints);
  let known = first; // also while a reload has taken it away
  const now = (): AgentDefinition => {
    known = provided.now().get(agentId) ?? known;
    return known;
  };
  const provider: AgentProvider = {
    id: first.provider.id,
    get models() {
      return now().provider.models;
    },
    get toolGate() {
      return now().provider.toolGate;
    },
    get ownTools() {
      return now().provider.ownTools;
    },
    subagentOf: (call) => now().provider.subagentOf?.(call),
    troubles: () => now().provider.troubles?.() ?? [],
    tried: async () => now().provider.tried?.(),
    run: (request) => {
      if (provided.now().has(agentId)) return now().provider.run(request);
      throw new Error(`no extension provides the agent "${agentId}" any more`);
    },
  };
  const fixed = { provider, ...own };
  return new Proxy<AgentDefinition>(
    { ...first, ...fixed },
    {
      get: (_, field) => Reflect.get(Object.hasOwn(fixed, field) ? fixed : now(), field),
    },
  );
}

/** The agents that live extensions provide. */
export function providedBy(extensions: Pick<ExtensionSet, 'live'>): ProvidedAgents {
  const all = () =>
    extensions.live.flatMap((one) =>
      one.provided('agent').map((agent) => ({ extensionId: one.extensionId, agent })),
    );
  return {
    now: () =>
      new Map(
        all()
          .map(({ agent }) => [agent.id, agent] as const)
          .toReversed(),
      ),
    mustBeDistinct: () => {
      const owners = new Map<string, string>();
      for (const { extensionId, agent } of all()) {
        const owner = owners.get(agent.id);
        if (owner !== undefined)
          throw badArguments(
            `the extensions "${owner}" and "${extensionId}" both provide an agent "${agent.id}"`,
            'Load one of them, or give one of the agents another id.',
          );
        owners.set(agent.id, extensionId);
      }
    },
  };
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
function sharedChoice(choice: BuiltInAgent, agents: readonly AgentSetting[]): BuiltInAgent {
  if (choice.kind !== 'claude') return choice;
  const wanted = agents.flatMap((agent) => (agent.choice.kind === 'claude' ? [agent.choice] : []));
  const named = [...new Set(wanted.flatMap(({ models }) => models))];
  if (named.length === 0) return choice;
  const isDefaultWanted = wanted.some(({ models }) => models.length === 0);
  return { ...choice, models: isDefaultWanted ? ['default', ...named] : named };
}

/** The parts of a command that agents are made with. */
interface AgentProviderOptions {
  /** The plugins whose skills the agent `claude` gets; none by default. */
  readonly plugins?: readonly LegacyPlugin[];
  /** The folder that the agent's tools work in. */
  readonly cwd: string;
  readonly logger: Logger;
  /** Is told of each line of a recording that holds no message; the other lines are used. */
  readonly onMalformed: (error: CommandError) => void;
  /** The gateway behind which the agents `openclaw` are, connected. */
  readonly gateway: () => Promise<OpenClawClient>;
}

/**
 * Makes the agent that was chosen.
 *
 * @throws CommandError `missing-file`, `unreadable-file` or `missing-package`; what the gateway's client throws.
 */
async function agentProvider(
  choice: BuiltInAgent,
  { cwd, logger, onMalformed, gateway, plugins = [] }: AgentProviderOptions,
): Promise<AgentProvider> {
  switch (choice.kind) {
    case 'echo':
      return echoProvider();
    case 'replay':
      return recorded(choice.file, onMalformed);
    case 'claude': {
      const { models } = choice;
      const offered = models.length === 0 ? {} : { models };
      const query = await claudeQuery(cwd);
      const skills = claudeSkills(plugins, cwd);
      const sdk = skills.length === 0 ? {} : { sdk: { plugins: skills } };
      return claudeProvider({ query, cwd, logger, ...offered, ...sdk });
    }
    case 'openclaw': {
      const { agentId } = choice;
      const { OpenClawAgentProvider } = await import('../../openclaw/gateway/index.js');
      return new OpenClawAgentProvider({ client: await gateway(), agentId, logger });
    }
  }
}

async function recorded(
  file: string,
  onMalformed: AgentProviderOptions['onMalformed'],
): Promise<AgentProvider> {
  try {
    return replayProvider(await readRecording(file, (line) => onMalformed(lineError(file, line))));
  } catch (thrown) {
    throw fileError(thrown, file, 'Check the path after replay: in the agent.');
  }
}

async function claudeQuery(cwd: string): ReturnType<typeof loadClaudeSdk> {
  try {
    return await loadClaudeSdk(cwd);
  } catch (cause) {
    if (!isSluiceError(cause)) throw cause;
    throw new CommandError('missing-package', cause.message, cause.hint, { cause });
  }
}

/** A plugin of Claude Code, as an option of the SDK. */
interface ClaudePlugin {
  readonly type: 'local';
  readonly path: string;
  readonly skipMcpDiscovery: true;
}

/**
 * Makes a plugin of Claude Code of the skills of each OpenClaw plugin: a copy with nothing else in it. Claude knows a skill as
 * `PLUGIN:SKILL`.
 *
 * @param folder the folder below which each plugin keeps its things.
 */
function claudeSkills(
  plugins: readonly Pick<LegacyPlugin, 'pluginId' | 'skills'>[],
  folder: string,
): readonly ClaudePlugin[] {
  return plugins.flatMap(({ pluginId, skills }) => {
    if (skills.length === 0) return [];
    const name = pluginId.toLowerCase().replace(/[^a-z0-9]+/g, '-');
    const path = join(folder, '.sluice', name, 'claude-skills');
    rmSync(path, { recursive: true, force: true }); // a skill of an older version goes
    mkdirSync(join(path, '.claude-plugin'), { recursive: true });
    writeFileSync(join(path, '.claude-plugin', 'plugin.json'), JSON.stringify({ name }));
    for (const skill of skills)
      cpSync(skill.path, join(path, 'skills', skill.name), { recursive: true });
    return [{ type: 'local', path, skipMcpDiscovery: true }];
  });
}
