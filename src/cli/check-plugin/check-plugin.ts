import { existsSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { Command } from 'commander';
import { createKernel, isSluiceError, silentLogger } from '../../kernel/index.js';
import { loadLegacyPluginFrom } from '../../legacy/index.js';
import { CommandError } from '../errors/command-error.js';
import { jsonLine } from '../print/json-line.js';
import { type LoadedConfig, readConfigFile } from '../settings/config-file.js';
import { lineLogger } from '../settings/logger.js';
import { openclawSetting } from '../settings/settings.js';
import { type ExitCode, exitCodes } from '../shell/exit-codes.js';
import type { Shell } from '../shell/shell.js';
import { pluginMentions } from './plugin-mentions.js';
import { type PluginReport, reportOn, reportOnFailure } from './plugin-report.js';
import { pluginView } from './plugin-view.js';

interface CheckOptions {
  readonly config?: string;
  readonly strictPlugins?: boolean;
  readonly openclaw?: string;
  readonly json?: boolean;
  readonly debug?: boolean;
}

const help = `
The path is a plugin's folder, the one with openclaw.plugin.json, or the name of an
installed package. Its module is imported and its register function runs, on a pipeline
of its own; its services, commands and channels do not. Its source is searched, by name,
for all that it would ask for later. What it imports of openclaw comes from --openclaw,
from "legacy": { "openclaw": PATH } in the config, from beside the plugin, or from Sluice.

With --config, the plugin gets its part of that file: "config" of the plugin with the
same path, and "openclaw" as the OpenClaw configuration.

The plugin is loaded as \`sluice run\` loads it: a call of what is not here is skipped, or
refused with --strict-plugins or "unsupported": "refuse" in the config.

The exit code is 1 if something would not work, and 2 if there is no plugin.

Examples:
  $ sluice check-plugin ./extensions/thread-ownership
  $ sluice check-plugin ./my-plugin --config sluice.json
  $ sluice check-plugin ./my-plugin --json`;

/** Adds `sluice check-plugin`, which tells what an OpenClaw plugin becomes here, and which parts of it would not work. */
export function addCheckPlugin(
  command: Command,
  shell: Shell,
  done: (code: ExitCode) => void,
): void {
  command
    .argument('<path>', "the plugin's folder")
    .option('-c, --config <file>', 'a config file as of `sluice run`, for its configuration')
    .option('--strict-plugins', 'refuse what is not here, as `sluice run --strict-plugins` does')
    .option('--openclaw <path>', 'the installed openclaw whose code the plugin imports')
    .option('--json', 'print a line of JSON')
    .option('--debug', 'stack traces of errors, and every log line of the plugin')
    .addHelpText('after', help)
    .action(async (path: string, options: CheckOptions) =>
      done(await checkPlugin(path, options, shell)),
    );
}

async function checkPlugin(path: string, options: CheckOptions, shell: Shell): Promise<ExitCode> {
  const { config: file, json, debug = false } = options;
  const config = file === undefined ? undefined : await readConfigFile(file, shell);
  shell.keepSecrets(config?.secrets ?? []);
  const kernel = createKernel(); // nothing is dispatched on it
  let report: PluginReport;
  let code: ExitCode = exitCodes.failed;
  try {
    await using plugin = await loadLegacyPluginFrom(path, {
      ...loadOptions(path, config, shell.cwd, options.strictPlugins === true),
      ...openclawSetting(options.openclaw, config, shell.cwd).legacy,
      kernel,
      logger: debug ? lineLogger(shell.stderr, 'debug', shell.stdout.gone) : silentLogger,
    });
    const given = resolve(shell.cwd, path);
    report = reportOn(
      path,
      plugin,
      kernel,
      pluginMentions(existsSync(given) ? given : dirname(plugin.source)),
    );
  } catch (thrown) {
    if (!isSluiceError(thrown)) throw thrown;
    const isMissing = thrown.code === 'plugin-not-found';
    if (json !== true && isMissing)
      throw new CommandError('missing-file', thrown.message, thrown.hint, { cause: thrown });
    if (json !== true) throw thrown;
    if (isMissing) code = exitCodes.usage;
    report = reportOnFailure(path, thrown);
  }
  const { palettes, width } = shell;
  shell.stdout.lines(
    json === true ? [jsonLine(report)] : pluginView(report, { palette: palettes.stdout, width }),
  );
  return report.works ? exitCodes.ok : code;
}

/** Returns the options with which `sluice run` loads the plugin at a path. */
function loadOptions(
  path: string,
  config: LoadedConfig | undefined,
  cwd: string,
  isStrict: boolean,
) {
  const { plugins = [], openclaw = {}, folder = cwd } = config ?? {};
  const setting = plugins.find((plugin) => resolve(folder, plugin.path) === resolve(cwd, path));
  return {
    from: cwd,
    workspaceDir: cwd,
    config: openclaw,
    ...(setting?.config !== undefined && { pluginConfig: setting.config }),
    ...(setting?.trusted !== undefined && { trusted: setting.trusted }),
    ...(setting?.unsupported !== undefined && { unsupported: setting.unsupported }),
    ...(isStrict && { unsupported: 'refuse' as const }),
  };
}
