import { agentHooks } from './agent.js';
import { gatewayHooks } from './gateway.js';
import { messageHooks } from './message.js';
import { promptHooks } from './prompt.js';
import type { LegacyHookKind } from './row.js';
import { sessionHooks } from './session.js';
import { subagentHooks } from './subagent.js';
import { toolHooks } from './tool.js';
import { transcriptHooks } from './transcript.js';

/** Every plugin hook of profile 2026.3, a row each, in the order in which OpenClaw lists them. */
export const pluginHooks = {
  ...promptHooks,
  ...agentHooks,
  ...messageHooks,
  ...toolHooks,
  ...transcriptHooks,
  ...sessionHooks,
  ...subagentHooks,
  ...gatewayHooks,
};

type Rows = typeof pluginHooks;

/**
 * Every plugin hook with its kind and the types of its event, its context and its result (`undefined` if nothing is read), as
 * its row says them.
 *
 * @example
 * const veto = (event: LegacyHooks['message_sending']['event']) => ({ cancel: event.content === '' });
 */
export type LegacyHooks = {
  readonly [H in keyof Rows]: NonNullable<Rows[H]['~shape']>;
};

/** The name of a plugin hook. */
export type LegacyHookName = keyof LegacyHooks;

/** The first argument of a hook's handlers. */
export type LegacyEvent<H extends LegacyHookName = LegacyHookName> = LegacyHooks[H]['event'];

/** The second argument of a hook's handlers. */
export type LegacyContext<H extends LegacyHookName = LegacyHookName> = LegacyHooks[H]['ctx'];

/** The result of a hook. */
export type LegacyResult<H extends LegacyHookName = LegacyHookName> = LegacyHooks[H]['result'];

/**
 * The plugin hooks by name, in that order.
 *
 * @example
 * const used = legacyHookNames.filter((hook) => runner.hasHooks(hook));
 */
export const legacyHookNames = Object.keys(pluginHooks) as readonly LegacyHookName[];

/** The plugin hooks of some kinds, in that order. */
export function legacyHooksOf(...kinds: readonly LegacyHookKind[]): readonly LegacyHookName[] {
  return legacyHookNames.filter((hook) => kinds.includes(pluginHooks[hook].kind));
}
