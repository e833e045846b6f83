import { agentHooks } from './agent.js';
import { messageHooks } from './message.js';
import { promptHooks } from './prompt.js';
import type { LegacyHookRow } from './row.js';
import { sessionHooks } from './session.js';
import type { LegacyHookName } from './shapes.js';
import { subagentHooks } from './subagent.js';
import { toolHooks } from './tool.js';
import { transcriptHooks } from './transcript.js';

const { session_start, session_end, before_reset, gateway_start, gateway_stop } = sessionHooks;

/** Every plugin hook of profile 2026.3, a row each, in the order in which OpenClaw lists them. */
export const pluginHooks: { readonly [H in LegacyHookName]: LegacyHookRow<H> } = {
  ...promptHooks,
  ...agentHooks,
  before_reset,
  ...messageHooks,
  ...toolHooks,
  ...transcriptHooks,
  session_start,
  session_end,
  ...subagentHooks,
  gateway_start,
  gateway_stop,
};

/** The plugin hooks by name, in that order. */
export const legacyHookNames = Object.keys(pluginHooks) as readonly LegacyHookName[];
