import type { PluginSettings } from '@sluice/cli';
import { CommandError } from '@sluice/cli';
import { definedFields, type Kernel, type Logger } from 'sluice-kernel/internal';
import { type LegacyPlugin, loadLegacyPluginFrom } from '../../index.js';

export { pluginPath } from './installed-plugins.js';

/**
 * Loads the OpenClaw plugins of the settings into a kernel. A plugin that cannot be read is left out; a plugin that could
 * not be set up stays with what it had registered, as it does in OpenClaw. Never rejects.
 *
 * @returns the plugins that were loaded, and the errors of all plugins.
 */
export async function loadPlugins(kernel: Kernel, settings: PluginSettings, logger: Logger) {
  const { openclaw, legacy = {}, workspaceDir } = settings;
  const plugins: LegacyPlugin[] = [];
  const errors: unknown[] = [];
  for (const { path, config, ...setting } of settings.plugins) {
    try {
      const plugin = await loadLegacyPluginFrom(path, {
        ...setting,
        ...legacy,
        ...definedFields({ pluginConfig: config }),
        kernel,
        config: openclaw,
        workspaceDir,
        logger,
      });
      const { pluginId, error } = plugin;
      if (plugins.some((other) => other.pluginId === pluginId)) {
        await plugin.dispose();
        throw loadedTwice(path, pluginId);
      }
      plugins.push(plugin);
      if (error !== undefined) errors.push(error);
    } catch (error) {
      errors.push(error);
    }
  }
  return { plugins, errors };
}

function loadedTwice(path: string, pluginId: string): CommandError {
  return new CommandError(
    'bad-config',
    `plugin "${pluginId}" of ${path} is loaded already`,
    'Name each plugin once: on the command line or in the config file.',
  );
}
