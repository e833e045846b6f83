// The names of this layer that the command line uses. They are no part of the package.

export { type PluginCapability, pluginCapabilities } from './plugin/api/capabilities.js';
export { servedGroups, servedMembers } from './plugin/api/unsupported.js';
export { pluginRoutesAt } from './plugin/http/route-match.js';
export { type LegacyManifest, manifestName } from './plugin/shape/manifest.js';
export { type PluginFolder, readPluginFolder } from './plugin/shape/plugin-folder.js';
export { rowsOf } from './profiles/index.js';
