import type { FamilyName } from '../kernel/index.js';

/**
 * Seed 004's table "Legacy Hook Mapping", row by row: which canonical families a plugin hook becomes. Hooks that
 * the table leaves out come with the bridge.
 *
 * @example
 * legacyMapping.before_agent_start; // ['agent.model.resolving', 'agent.prompt.building']
 */
export const legacyMapping = {
  before_model_resolve: ['agent.model.resolving'],
  before_prompt_build: ['agent.prompt.building'],
  before_agent_start: ['agent.model.resolving', 'agent.prompt.building'],
  llm_input: ['agent.llm.input'],
  llm_output: ['agent.llm.output'],
  message_received: ['ingress.normalized'],
  message_sending: ['egress.preparing'],
  message_sent: ['egress.sent'],
  before_tool_call: ['agent.tool.calling'],
  after_tool_call: ['agent.tool.called'],
  tool_result_persist: ['transcript.tool-result.persisting'],
  before_message_write: ['transcript.message.writing'],
  before_compaction: ['compaction.before'],
  after_compaction: ['compaction.after'],
  before_reset: ['session.resetting'],
  gateway_start: ['gateway.started'],
  gateway_stop: ['gateway.stopping'],
  subagent_delivery_target: ['subagent.delivery.resolving'],
} as const satisfies Record<string, readonly FamilyName[]>;

/** A plugin hook of the table. */
export type LegacyHook = keyof typeof legacyMapping;
