import { existsSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import {
  type AddCommand,
  CommandError,
  type ExitCode,
  exitCodes,
  jsonLine,
  printData,
  type Shell,
} from '@sluice/cli';
import {
  flagOption,
  type LoadedConfig,
  legacySetting,
  type PipelineOptions,
  readConfigFile,
  writeTextFile,
} from '@sluice/cli/internal';
import { definedFields, isSluiceError } from 'sluice-kernel/internal';
import type { PluginTarget } from '../../index.js';
import { readPluginFolder } from '../../plugin/shape/plugin-folder.js';
import { pluginPath } from '../installed/installed-plugins.js';
import { answerClosed, closedOption, inClosedProcess } from './closed-plugin.js';
import { pluginMentions } from './plugin-mentions.js';
import { type PluginReport, reportOn, reportOnFailure } from './plugin-report.js';
import { nameOf, pluginView, sdkTexts, verdictTexts } from './plugin-view.js';

/** The options of a check. */
export interface CheckOptions extends PipelineOptions {
  readonly config?: string;
  readonly strictPlugins?: boolean;
  readonly report?: string;
  /** This is the closed process. */
  readonly closed?: boolean;
}

const help = `
The path is a plugin's folder, the one with openclaw.plugin.json, a tarball, or the name
of an installed package. Its module is imported and its register function runs, in a
process of its own that has no environment, no secret, no network, no other process and
no file but the plugin's; its services, commands and channels do not run. Its source is
searched, by name, for all that it would ask for later. Its imports of openclaw come from
--openclaw, from "legacy": { "openclaw": PATH } in the config, from beside the plugin, or
from Sluice.

With --config, the plugin gets its part of that file: "config" of the plugin with the
same path, and "openclaw" as the OpenClaw configuration.

The plugin is loaded as \`sluice run\` loads it: a call of what is not here is skipped, or
refused with --strict-plugins or "unsupported": "refuse" in the config.

Each hook, command, tool and so on gets a verdict: it works, works with a named limit, or
is refused. A channel is registered: only a run shows whether messages come in by it.
Differences that no plugin meets by itself are in --json and --report alone.

Exit codes of this command: 0 if all of it works, with limits or without, 1 if a part is
refused or its code does not load, 2 if there is no plugin.

Examples:
  $ sluice check-plugin ./extensions/thread-ownership
  $ sluice check-plugin ./my-plugin --config sluice.json
  $ sluice check-plugin ./my-plugin --json
  $ sluice check-plugin ./my-plugin --report plugin.md`;

/** Adds `sluice check-plugin`, which tells what an OpenClaw plugin becomes here, and which parts of it would not work. */
export const addCommand: AddCommand = (command, shell, done) => {
  command
    .argument('<path>', 'a folder, a tarball, or the name of an installed package')
    .option('-c, --config <file>', 'a config file as of `sluice run`, for its configuration')
    .option('--strict-plugins', 'refuse what is not here, as `sluice run --strict-plugins` does')
    .option(
      '--openclaw <path>',
      'the installed openclaw whose code the plugin imports, or its release alone',
    )
    .addOption(flagOption('legacy.profile'))
    .option('--json', 'print a line of JSON')
    .option('--report <file>', 'write the whole report to a file, as Markdown')
    .option('--debug', 'stack traces of errors, and every log line of the plugin')
    .addOption(closedOption())
    .addHelpText('after', help)
    .action(async (path: string, options: CheckOptions) =>
      done(await checkPlugin(path, options, shell)),
    );
};

/** Checks a plugin, and prints the report on it. */
export async function checkPlugin(
  path: string,
  options: CheckOptions,
  shell: Shell,
): Promise<ExitCode> {
  const { config: file, json, debug = false } = options;
  if (options.closed === true)
    return answerClosed(path, debug, shell, (plugin, kernel) => {
      const given = resolve(shell.cwd, path);
      const source = existsSync(given) ? given : dirname(plugin.source);
      return reportOn(path, plugin, kernel, pluginMentions(source));
    });
  const config = file === undefined ? undefined : await readConfigFile(file, shell, options);
  shell.keepSecrets(config?.secrets ?? []);
  const at = await pluginPath(path, config?.folder ?? shell.cwd, shell);
  let report: PluginReport;
  try {
    report = await inspectPlugin(at, options, config, shell);
  } catch (thrown) {
    if (!isSluiceError(thrown)) throw thrown;
    report = reportOnFailure(path, thrown, targetOf(path, shell.cwd));
    await writeReport(report, options, shell.cwd);
    if (json !== true && report.verdict === 'not-found')
      throw new CommandError('missing-file', thrown.message, thrown.hint, { cause: thrown });
    if (json !== true) throw thrown;
    shell.stdout.lines([jsonLine(report)]);
    return report.verdict === 'not-found' ? exitCodes.usage : exitCodes.failed;
  }
  report = { ...report, path };
  await writeReport(report, options, shell.cwd);
  printReport(report, options, shell);
  return report.works ? exitCodes.ok : exitCodes.failed;
}

/** Prints a report: for people, or as a line of JSON. */
export function printReport(
  report: PluginReport,
  options: Pick<CheckOptions, 'json'>,
  shell: Shell,
): void {
  printData(shell, options, [report], (layout) => pluginView(report, layout));
}

/**
 * Loads a plugin as `sluice run` does, but in a closed process, and reports on it.
 *
 * @throws SluiceError (as a rejection) as of `loadLegacyPluginFrom`.
 */
export async function inspectPlugin(
  path: string,
  options: CheckOptions,
  config: LoadedConfig | undefined,
  shell: Shell,
): Promise<PluginReport> {
  const load = loadOptions(path, options, config, shell);
  const { folder } = readPluginFolder(path, shell.cwd);
  const command = ['check-plugin', path, ...(options.debug === true ? ['--debug'] : [])];
  return inClosedProcess<PluginReport>(command, { folder, load, config }, shell);
}

async function writeReport(
  report: PluginReport,
  { report: file }: CheckOptions,
  cwd: string,
): Promise<void> {
  if (file !== undefined) await writeTextFile(resolve(cwd, file), pluginMarkdown(report));
}

/** The OpenClaw that a plugin was written for; nothing if its folder cannot be read. */
function targetOf(path: string, cwd: string): PluginTarget | undefined {
  try {
    return readPluginFolder(path, cwd).target;
  } catch {
    return undefined;
  }
}

/** Returns the options with which `sluice run` loads the plugin at a path. */
export function loadOptions(
  path: string,
  options: Pick<CheckOptions, 'strictPlugins' | keyof PipelineOptions>,
  config: LoadedConfig | undefined,
  shell: Shell,
) {
  const { cwd } = shell;
  const { plugins = [], openclaw = {}, folder = cwd } = config ?? {};
  const setting = plugins.find((plugin) => resolve(folder, plugin.path) === resolve(cwd, path));
  const { config: pluginConfig, trusted, optionalTools, routes, unsupported } = setting ?? {};
  return {
    from: cwd,
    workspaceDir: cwd,
    config: openclaw,
    ...definedFields({ pluginConfig, trusted, optionalTools, routes, unsupported }),
    ...(options.strictPlugins === true && { unsupported: 'refuse' as const }),
    ...legacySetting(config, shell, options),
  };
}

/** A report as a page of Markdown: every verdict, every divergence and every finding. */
function pluginMarkdown(report: PluginReport): string {
  const { error, capabilities, divergences, diagnostics } = report;
  const found = [
    ...(error === undefined ? [] : [`${error.code}: ${error.message} ${error.hint}`]),
    ...diagnostics.map(({ level, message }) => `${level}: ${message}`),
  ];
  const rows = capabilities.map(({ kind, name, verdict, because, differs, place }) => {
    const become = report.hooks.find(({ hook }) => kind === 'hook' && hook === name)?.becomes ?? [];
    const parts = new Set(become.map((part) => `${part.family}, ${part.class}`));
    const cells = [
      kind,
      name,
      verdict.replace('-', ' '),
      [...parts].join('; '),
      [...because, ...differs, ...(place === undefined ? [] : [`(${place})`])].join(' '),
    ];
    return `| ${cells.map(plain).join(' | ')} |`;
  });
  const list = (title: string, lines: readonly string[]): string[] =>
    lines.length === 0 ? [] : ['', `## ${title}`, '', ...lines.map((line) => `- ${plain(line)}`)];
  return [
    `# ${plain(nameOf(report))} ${verdictTexts[report.verdict]}`,
    ...sdkTexts(report).flatMap((text) => ['', plain(text)]),
    ...(rows.length === 0
      ? []
      : ['', '| kind | name | verdict | becomes | why |', '|---|---|---|---|---|', ...rows]),
    ...list('Found', found),
    ...list(
      'What differs from OpenClaw',
      divergences.map(({ name, what, reason }) => `**${name}**: ${what} ${reason}`),
    ),
    '',
  ].join('\n');
}

/** A text in a cell or an item: on one line, without the signs that begin HTML or end a cell. */
function plain(text: string): string {
  return text.replace(/\s+/g, ' ').replace(/[|<>]/g, (sign) => `\\${sign}`);
}
