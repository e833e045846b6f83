import type { ToolSource, ToolTurn } from '../../host/provided/tools.js';
import { definedFields } from '../../kernel/index.js';
import type { LegacyPlugin, LegacyToolTurn } from '../index.js';

/** The tools of a plugin. Its factories are called for each turn, as OpenClaw calls them for each run. */
export function toolSourceOf(plugin: LegacyPlugin): ToolSource {
  const { pluginId: owner, tools } = plugin;
  return {
    owner,
    toolsFor: (turn) =>
      tools.length === 0 ? [] : tools.flatMap((tool) => tool.make(contextOf(plugin, turn))),
  };
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
