import type { Fields } from '../../../kernel/index.js';
import { agentSettings } from '../channel/settings.js';
import type { Registering } from './registering.js';

/** A tool that is about to be given to an agent. */
interface OfferedTool {
  readonly name: string;
  readonly optional: boolean;
  readonly agentId: string;
}

/**
 * Tells whether the operator lets an agent have a tool of a plugin: by `tools` of the OpenClaw configuration and of the agent there,
 * and by the plugin's own `optionalTools` (event pipeline §17.26).
 */
export function isToolGiven(
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

/** Tells whether an entry is one of the names; "*" stands for any text. */
function isNamed(entry: string, names: readonly string[]): boolean {
  if (!entry.includes('*')) return names.includes(entry);
  const pattern = entry.split('*').map((part) => part.replace(/[\\^$.|?+()[\]{}]/g, '\\$&'));
  const matcher = new RegExp(`^${pattern.join('.*')}$`);
  return names.some((name) => matcher.test(name));
}
