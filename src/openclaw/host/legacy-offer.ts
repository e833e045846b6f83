import type { PluginHost, PluginOffer, ToolTurn } from '@sluice/host';
import { definedFields } from 'sluice-kernel/internal';
import type { LegacyPlugin } from '../plugin/shape/plugin.js';
import type { LegacyToolTurn } from '../plugin/shape/shapes.js';
import { legacyChannel } from './legacy-channel.js';
import { legacyCommand } from './legacy-command.js';
import { legacyRoutes } from './legacy-routes.js';

/** Gives a host what a plugin brings. Factories of tools are called for each turn, as OpenClaw calls them for each run. */
export function offerOf(plugin: LegacyPlugin, host: PluginHost): PluginOffer {
  plugin.state.keepIn(host.keyValues);
  return {
    owner: plugin.pluginId,
    channels: plugin.channels.map((channel) => legacyChannel(plugin, channel, host)),
    commands: plugin.commands.map((command) => legacyCommand(plugin, command)),
    routes: legacyRoutes(plugin, host),
    toolsFor: (turn) => plugin.tools.flatMap((tool) => tool.make(contextOf(plugin, turn))),
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
