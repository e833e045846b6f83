import type { PluginOffer, ToolTurn } from '../../host/index.js';
import { definedFields } from '../../kernel/index.js';
import type { LegacyPlugin } from '../plugin/shape/plugin.js';
import type { LegacyToolTurn } from '../plugin/shape/shapes.js';

/** The tools of a plugin. Its factories are called for each turn, as OpenClaw calls them for each run. */
export function toolsOfPlugin(plugin: LegacyPlugin): PluginOffer['toolsFor'] {
  return (turn) => plugin.tools.flatMap((tool) => tool.make(contextOf(plugin, turn)));
}

function contextOf(
  { config, workspaceDir }: LegacyPlugin,
  { agentId, sessionKey, sessionId, message, principal }: ToolTurn,
): LegacyToolTurn {
  const { channel, surface, accountId, sender } = message;
  return {
    ...{ config, workspaceDir, agentId, sessionKey, sessionId },
    messageChannel: surface ?? channel,
    sandboxed: false,
    senderIsOwner: principal?.isOwner === true,
    ...definedFields({ agentAccountId: accountId, requesterSenderId: sender?.id }),
  };
}
