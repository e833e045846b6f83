import type { PluginHost, PluginOffer } from '../../host/index.js';
import type { LegacyPlugin } from '../plugin/shape/plugin.js';
import { channelsOfPlugin } from './legacy-channel.js';
import { commandsOfPlugin } from './legacy-command.js';
import { routesOfPlugin } from './legacy-routes.js';
import { toolsOfPlugin } from './legacy-tools.js';

/** Gives a host what a plugin brings. */
export function offerOf(plugin: LegacyPlugin, host: PluginHost): PluginOffer {
  plugin.state.keepIn(host.keyValues);
  return {
    owner: plugin.pluginId,
    channels: channelsOfPlugin(plugin, host),
    commands: commandsOfPlugin(plugin),
    routes: routesOfPlugin(plugin, host),
    toolsFor: toolsOfPlugin(plugin),
  };
}
