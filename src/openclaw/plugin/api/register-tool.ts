import type { ToolDefinition } from '@sluice/sdk/stream';
import { toolProblem } from '@sluice/sdk/stream/internal';
import { type Fields, isFields, isThenable, oneLine } from 'sluice-kernel/internal';
import { agentSettings } from '../channel/settings.js';
import type { LegacyToolTurn } from '../shape/shapes.js';
import type { Registering } from './registering.js';

/** The names of a plugin's tools, as it tells them, and whether the operator has to allow them. */
interface ToolOptions {
  readonly name?: string;
  readonly names?: readonly string[];
  readonly optional?: boolean;
}

/**
 * `api.registerTool`: a tool, or a factory that makes one or several for each turn. A tool that cannot be given is told of, and left
 * out.
 */
export function registerTool(plugin: Registering, given: unknown, options: ToolOptions = {}): void {
  const factory =
    typeof given === 'function' ? (given as (context: unknown) => unknown) : undefined;
  const tool = factory === undefined ? read(plugin, given) : standInOf(plugin, given);
  if (typeof tool === 'string') {
    const name = memberOf(given, 'name');
    const about = { kind: 'tool', name: typeof name === 'string' ? name : 'without a name' };
    return void plugin.report('error', `a tool is left out: ${tool}`, undefined, about);
  }
  const own = tool === undefined ? [] : [tool.name];
  const named = [options.names ?? options.name ?? [], own].flat();
  const names = [...new Set(named.map((name) => String(name).trim()).filter(Boolean))];
  const optional = options.optional === true;
  const told = new Set<string>();
  const leftOut = (about: string, problem: unknown): void => {
    if (told.has(about)) return; // a factory is called for each turn
    told.add(about);
    plugin.report('error', `${about} is left out`, problem);
  };
  const make = (context: LegacyToolTurn): readonly ToolDefinition[] => {
    const made = factory === undefined ? [given] : call(factory, context);
    return made
      .flatMap((one) => {
        const ready = tool ?? read(plugin, one);
        if (typeof ready !== 'string') return isFor(context, one) ? [ready] : [];
        leftOut(`the tool ${oneLine(memberOf(one, 'name'))}`, ready);
        return [];
      })
      .filter(({ name }) => isToolGiven(plugin, { name, optional, agentId: context.agentId }));
  };
  const call = (
    run: (context: unknown) => unknown,
    context: LegacyToolTurn,
  ): readonly unknown[] => {
    const about = `the tool factory ${names.join(', ')}`.trim();
    try {
      const made = run(context);
      if (isThenable(made)) {
        made.then(undefined, () => undefined); // a rejection, which nobody waits for
        leftOut(about, 'it gives a promise: a factory gives its tools at once');
        return [];
      }
      return [made ?? []].flat().filter((one) => one !== false);
    } catch (thrown) {
      leftOut(about, thrown);
      return [];
    }
  };
  plugin.tools.push({ names, optional, make });
}

/** Returns whether a tool is for whoever sent the message: one for owners alone is not for others. */
function isFor({ senderIsOwner }: LegacyToolTurn, tool: unknown): boolean {
  return senderIsOwner === true || !memberOf(tool, 'ownerOnly');
}

/** A member of a tool; the error if it cannot be read. */
function memberOf(tool: unknown, name: string): unknown {
  try {
    return Reflect.get(Object(tool), name);
  } catch (thrown) {
    return thrown ?? true;
  }
}

/** Why a factory is none: it stands in for a member that is not there. */
function standInOf({ refusals }: Registering, given: unknown): string | undefined {
  try {
    refusals.check(given);
    return undefined;
  } catch (thrown) {
    return oneLine(thrown);
  }
}

/** Reads a tool of a plugin. @returns why it is none. */
function read({ refusals }: Registering, given: unknown): ToolDefinition | string {
  try {
    refusals.check(typeof given === 'function' ? given : undefined);
    if (!isFields(given)) return `it is no object (${oneLine(given)})`;
    const { name, description = '', parameters = {}, execute } = given;
    refusals.check({ name, description, parameters, execute });
    const tool: ToolDefinition = {
      name: name as string, // judged below
      description: description as string,
      inputSchema: isFields(parameters) ? { type: 'object', ...parameters } : (parameters as never),
      execute: async (args, use) => {
        const onUpdate = (partial: unknown): void => use.onUpdate(refusals.check(partial));
        const run = execute as (...call: readonly unknown[]) => unknown; // judged below
        return refusals.check(await run.call(given, use.toolCallId, args, use.signal, onUpdate));
      },
    };
    return typeof execute === 'function'
      ? (toolProblem(tool) ?? tool)
      : 'it has no function "execute"';
  } catch (thrown) {
    return oneLine(thrown);
  }
}

/** A tool that is about to be given to an agent. */
interface OfferedTool {
  readonly name: string;
  readonly optional: boolean;
  readonly agentId: string;
}

/**
 * Returns whether the operator lets an agent have a tool of a plugin: by `tools` of the OpenClaw configuration and of the agent there,
 * and by the plugin's own `optionalTools` (event pipeline §17.26).
 */
function isToolGiven(
  { pluginId, config, optionalTools }: Pick<Registering, 'pluginId' | 'config' | 'optionalTools'>,
  { name, optional, agentId }: OfferedTool,
): boolean {
  const names = [name, pluginId, 'group:plugins'].map((one) => one.toLowerCase());
  const lists = [config, agentSettings(config, agentId).own].map(({ tools }) => {
    const { allow, alsoAllow, deny } = Object(tools) as Fields; // read with care
    const more = entriesOf(alsoAllow);
    return {
      allow: entriesOf(allow),
      allowed: [...entriesOf(allow), ...more],
      deny: entriesOf(deny),
    };
  });
  if (lists.some(({ deny }) => deny.some((entry) => isNamed(entry, names)))) return false;
  const kept = lists.every(
    ({ allow, allowed }) => allow.length === 0 || allowed.some((entry) => isNamed(entry, names)),
  );
  if (!kept || !optional) return kept;
  const own = entriesOf(optionalTools);
  return (
    own.some((entry) => isNamed(entry, names)) ||
    lists.some(({ allowed }) => allowed.some((entry) => names.includes(entry)))
  );
}

/** The texts of a list, as names are compared. */
function entriesOf(list: unknown): readonly string[] {
  return (Array.isArray(list) ? (list as readonly unknown[]) : [])
    .filter((entry) => typeof entry === 'string')
    .map((entry) => entry.trim().toLowerCase())
    .filter((entry) => entry !== '');
}

/** Returns whether an entry is one of the names; "*" stands for any text. */
function isNamed(entry: string, names: readonly string[]): boolean {
  if (!entry.includes('*')) return names.includes(entry);
  const pattern = entry.split('*').map((part) => part.replace(/[\\^$.|?+()[\]{}]/g, '\\$&'));
  const matcher = new RegExp(`^${pattern.join('.*')}$`);
  return names.some((name) => matcher.test(name));
}
