import { agentHooks } from './agent.js';
import { gatewayHooks } from './gateway.js';
import { messageHooks } from './message.js';
import { promptHooks } from './prompt.js';
import type { LegacyHookKind, LegacyHookRows } from './row.js';
import { sessionHooks } from './session.js';
import type { LegacyHookName } from './shapes.js';
import { subagentHooks } from './subagent.js';
import { toolHooks } from './tool.js';
import { transcriptHooks } from './transcript.js';

const rows = {
  ...promptHooks,
  ...agentHooks,
  ...messageHooks,
  ...toolHooks,
  ...transcriptHooks,
  ...sessionHooks,
  ...subagentHooks,
  ...gatewayHooks,
} satisfies LegacyHookRows;

/** The kind of a plugin hook, as its row says it. */
export type LegacyHookKindOf<H extends LegacyHookName> = (typeof rows)[H]['kind'];

/** Every plugin hook of profile 2026.3, a row each, in the order in which OpenClaw lists them. */
export const pluginHooks: LegacyHookRows = rows;

/**
 * The plugin hooks by name, in that order.
 *
 * @example
 * const used = legacyHookNames.filter((hook) => runner.hasHooks(hook));
 */
export const legacyHookNames = Object.keys(rows) as readonly LegacyHookName[];

/** The plugin hooks of some kinds, in that order. */
export function legacyHooksOf(...kinds: readonly LegacyHookKind[]): readonly LegacyHookName[] {
  return legacyHookNames.filter((hook) => kinds.includes(pluginHooks[hook].kind));
}
