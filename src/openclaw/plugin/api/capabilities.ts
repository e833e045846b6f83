import { definedFields, type EmissionSource } from 'sluice-kernel/internal';
import { type LegacyDivergence, legacyDivergences } from '../../mapping/divergences.js';
import type { LegacyPlugin, UnsupportedCall } from '../shape/plugin.js';

/** One thing that a plugin brings or asks for, with a verdict. */
export interface PluginCapability {
  /** `hook`, `command`, `tool`, or the name of the register function that asked for it in vain. */
  readonly kind: string;
  readonly name: string;
  /** `registered`: it is there, and nothing has shown that it works, because only a run can. */
  readonly verdict: 'works' | 'works-but' | 'registered' | 'refused';
  /** The divergences from OpenClaw that its handlers can meet, by name. */
  readonly differs: readonly string[];
  /** Its limits, or what to use instead: sentences. */
  readonly because: readonly string[];
  /** The file of the call, and its line if that is known. */
  readonly place?: string;
}

/** The lists of a loaded plugin that name something which it brings. */
type CapabilityList = Exclude<
  {
    [K in keyof LegacyPlugin]-?: LegacyPlugin[K] extends readonly object[] ? K : never;
  }[keyof LegacyPlugin],
  'unsupported' | 'diagnostics'
>;

interface CapabilityRow<Item> {
  readonly kind: string;
  /** The function of the api that brings it. */
  readonly member: string;
  name(item: Item): string;
  /** The divergences of it that are not minor, by name. */
  differs?(item: Item, plugin: LegacyPlugin): readonly string[];
  /** A check does not run it, and only a run shows whether it works. */
  readonly isUntried?: boolean;
  /** Why it does less than in OpenClaw. */
  limits?(item: Item, plugin: LegacyPlugin): readonly (string | false)[];
}

/** A row for each list of a plugin: one that is added to `LegacyPlugin` must have one, and gets its verdicts by it. */
const rows: { readonly [K in CapabilityList]: CapabilityRow<LegacyPlugin[K][number]> } = {
  hooks: {
    kind: 'hook',
    member: 'api.on',
    name: ({ hookName }) => hookName,
    differs: ({ hookName }, { profile }) => {
      const all: readonly LegacyDivergence[] = legacyDivergences;
      return all
        .filter(({ minor, profiles }) => minor !== true && profiles.includes(profile))
        .filter(({ hooks }) => hooks.includes(hookName))
        .map(({ name }) => name);
    },
    limits: ({ parts }, { kernel }) => {
      const sources = new Map(kernel.stages().map(({ stage }) => [stage.family, stage.emittedBy]));
      return [...new Set(parts.map(({ family }) => seldom[sources.get(family) ?? 'nothing']))];
    },
  },
  internalHooks: {
    kind: 'internal hook',
    member: 'api.registerHook',
    name: ({ name, events }) => `${name} (${events.join(', ')})`,
    limits: ({ attached }) => [
      !attached &&
        'It is not attached: config.hooks.internal.enabled is not true, or it says register: false.',
    ],
  },
  services: { kind: 'service', member: 'api.registerService', name: ({ id }) => id },
  commands: {
    kind: 'command',
    member: 'api.registerCommand',
    name: ({ name }) => `/${name.trim().toLowerCase()}`,
  },
  channels: {
    kind: 'channel',
    member: 'api.registerChannel',
    name: ({ id }) => id,
    isUntried: true,
    limits: ({ gateway }) => [
      'No message has come in or gone out by it here: run it, and see `sluice doctor --running`.',
      gateway?.startAccount === undefined && 'It takes nothing in: it has no gateway.startAccount.',
    ],
  },
  tools: {
    kind: 'tool',
    member: 'api.registerTool',
    name: ({ names }) => names.join(', ') || 'of a factory',
    limits: ({ optional }) => [
      optional &&
        'An agent gets it only if "optionalTools" of the plugin or tools.alsoAllow names it.',
    ],
  },
  skills: {
    kind: 'skill',
    member: 'openclaw.plugin.json: skills',
    name: ({ name }) => name,
    limits: () => ['`sluice run` hands it to the agent `claude`. Copy it to where another looks.'],
  },
  cliCommands: {
    kind: 'command line',
    member: 'api.registerCli',
    name: ({ names }) => names.join(', ') || '(no name)',
    limits: () => ['`sluice plugin run` runs it, in a process of its own.'],
  },
  gatewayMethods: {
    kind: 'gateway method',
    member: 'api.registerGatewayMethod',
    name: ({ method }) => method,
    limits: () => ['`sluice plugin call` calls it, in a process of its own.'],
  },
  httpRoutes: {
    kind: 'route',
    member: 'api.registerHttpRoute',
    name: ({ path, match }) => (match === 'exact' ? path : `${path} (${match})`),
    limits: (_, { answersHttp }) => [
      !answersHttp && 'It answers at the port of "health" if "routes" of the plugin is true.',
    ],
  },
};

/** The sources of events that a host may lack. */
const seldom: Readonly<Record<EmissionSource, string | false>> = {
  host: false,
  turn: false,
  extension: 'A host dispatches it only if an extension does.',
  subagent: 'A host tells of it only if its agent starts subagents.',
  'interactive-channel': 'A host tells of it only if a channel has buttons, lists or forms.',
  nothing: 'No host dispatches it yet.',
};

/**
 * A verdict for everything that a plugin brings or asks for, made of what it has registered, of what it asked for in vain
 * and of what was left out.
 *
 * @param later the members that its source names, and that it has not asked for so far.
 * @example
 * const refused = pluginCapabilities(plugin).filter(({ verdict }) => verdict === 'refused');
 */
export function pluginCapabilities(
  plugin: LegacyPlugin,
  later: readonly UnsupportedCall[] = [],
): readonly PluginCapability[] {
  const missing = [...plugin.unsupported, ...later];
  const lists = Object.keys(rows) as CapabilityList[]; // the table's own keys
  const brought = lists.flatMap((list) => capabilitiesIn(list, plugin, missing));
  const members = lists.map((list) => `${rows[list].member.slice('api.'.length)}: `);
  const leftOut = plugin.diagnostics.flatMap(({ about, message }) =>
    about === undefined ? [] : [refused(about.kind, about.name, message)],
  );
  const asked = missing
    .filter(({ method }) => !members.some((member) => method.startsWith(member)))
    .map(({ method, instead, place }) => refused(kindOf(method), method, instead, place));
  return [...brought, ...leftOut, ...asked];
}

function capabilitiesIn<K extends CapabilityList>(
  list: K,
  plugin: LegacyPlugin,
  missing: readonly UnsupportedCall[],
): readonly PluginCapability[] {
  const row: CapabilityRow<LegacyPlugin[K][number]> = rows[list];
  const prefix = `${row.member.slice('api.'.length)}: `;
  const lacking = missing.filter(({ method }) => method.startsWith(prefix));
  return plugin[list].map((item) => {
    const differs = row.differs?.(item, plugin) ?? [];
    const because = [
      ...(row.limits?.(item, plugin) ?? []).filter((limit) => limit !== false),
      ...lacking.map(({ method, instead }) => `${method.slice(prefix.length)}: ${instead}`),
    ];
    const limited = differs.length + because.length === 0 ? 'works' : 'works-but';
    const verdict = row.isUntried === true ? 'registered' : limited;
    return { kind: row.kind, name: row.name(item), verdict, differs, because };
  });
}

function refused(kind: string, name: string, why: string, place?: string): PluginCapability {
  const verdict = 'refused';
  return { kind, name, verdict, differs: [], because: [why], ...definedFields({ place }) };
}

/** `tool` for `api.registerTool`, `gateway method` for `api.registerGatewayMethod`, `runtime` for `api.runtime.tts.speak`. */
function kindOf(method: string): string {
  const [, registered] = /^api\.register([A-Z]\w*)$/.exec(method) ?? [];
  if (registered === undefined) return /^api\.(\w+)/.exec(method)?.[1] ?? 'manifest';
  return registered.replace(/(?<=[a-z])(?=[A-Z])/g, ' ').toLowerCase();
}
