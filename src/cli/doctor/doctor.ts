import { usualTurnMs } from '@sluice/host/internal';
import { type LoadedExtension, Scope } from '@sluice/sdk/extension';
import type { AgentProvider } from '@sluice/sdk/stream';
import { oneLine, silentLogger } from 'sluice-kernel/internal';
import { CommandError, ConfigError } from '../errors/command-error.js';
import { agentDefinitions, providedAgents } from '../pipeline/agent-definitions.js';
import { declaredChannels } from '../pipeline/channel-packages.js';
import { openPipeline, type Pipeline } from '../pipeline/pipeline.js';
import { type Layout, laidOut } from '../print/layout.js';
import { printData } from '../print/print-data.js';
import { addPipelineOptions, type PipelineOptions } from '../settings/flags.js';
import { lineError } from '../settings/recording-file.js';
import { readSettings, type Settings } from '../settings/settings.js';
import { type ExitCode, exitCodes } from '../shell/exit-codes.js';
import type { AddCommand, AgentContext, Shell } from '../shell/shell.js';
import { counted, printable } from '../shell/text.js';
import { checkGrants, checkRoles } from './check-access.js';
import { checkChannels, checkRoutes } from './check-channels.js';
import { checkFamilies, checkPreviews } from './check-families.js';
import { checkJournal } from './check-journal.js';
import { checkMatches } from './check-matches.js';
import { checkRunning } from './check-running.js';
import { checkSecrets } from './check-secrets.js';
import { type Finding, findingsOf, type Severity } from './finding.js';

interface DoctorOptions extends PipelineOptions {
  readonly running?: string | true;
  readonly complete?: boolean;
}

const help = `
Checks all that \`sluice run\` would use, without starting it: no channel is connected, no
agent asked and no handler called. Extensions and plugins are set up, and disposed again.
A probe event goes through each stage with a stand-in for each handler, and doctor reports
each handler that it does not reach.

With --running it asks the host that runs instead: dead letters, handlers in quarantine,
extensions that were refused, and vetoes that failed open are warnings.

An error is something that does not work; the exit code is then 1. A warning works, and
should be looked at. What could not be looked at is unchecked: with --complete the exit
code is 1 then, too.

Examples:
  $ sluice doctor
  $ sluice doctor --config my.config.json --extension ./quiet-hours.js
  $ sluice doctor --running http://127.0.0.1:8080
  $ sluice doctor --json | grep '"severity":"error"'`;

/** Adds `sluice doctor`, which finds the mistakes of a host before it runs. */
export const addCommand: AddCommand = (command, shell, done) => {
  addPipelineOptions(command, shell.additions, 'agent', 'channels', 'journal.path')
    .option('--running [url]', 'ask the host that runs, by its health port, how it is')
    .option('--complete', 'fail if something could not be checked')
    .option('--json', 'print a line of JSON per finding')
    .addHelpText('after', help)
    .action(async (options: DoctorOptions) => done(await doctor(options, shell)));
};

async function doctor(options: DoctorOptions, shell: Shell): Promise<ExitCode> {
  const findings = [versions(shell), ...(await found(options, shell))];
  printData(shell, options, findings, (layout) => findingsView(findings, layout));
  const bad = options.complete === true ? /^(error|unchecked)$/ : /^error$/;
  return findings.some(({ severity }) => bad.test(severity)) ? exitCodes.failed : exitCodes.ok;
}

function versions({ version }: Shell): Finding {
  const { versions: of, platform, arch } = process;
  return findingsOf('versions').ok(`sluice ${version} on Node ${of.node}, ${platform} ${arch}`);
}

/** Reads the settings, and examines all that they name; if they cannot be read, every reason is a finding. */
async function found(options: DoctorOptions, shell: Shell): Promise<readonly Finding[]> {
  let settings: Settings;
  try {
    settings = await readSettings(options, shell);
  } catch (thrown) {
    if (!(thrown instanceof CommandError)) throw thrown;
    const problems = thrown instanceof ConfigError ? thrown.each : [thrown];
    return problems.map((one) => findingsOf('config').thrown(one));
  }
  if (options.running !== undefined) return checkRunning(options.running, settings);
  return examine(settings, shell);
}

/** Lays the findings out for people: the errors come last, nearest to the prompt. */
function findingsView(findings: readonly Finding[], layout: Layout): string[] {
  const ordered = (['ok', 'unchecked', 'warning', 'error'] as const).flatMap((severity) =>
    findings.filter((one) => one.severity === severity),
  );
  return [...ordered.flatMap((one) => lines(one, layout)), summary(findings, layout)];
}

function lines({ severity, check, what, whose, hint }: Finding, layout: Layout): string[] {
  const { palette } = layout;
  const paint = {
    ...{ ok: palette.plain, unchecked: palette.quiet },
    ...{ warning: palette.warning, error: palette.failure },
  }[severity];
  const named = whose === undefined ? '' : `${whose}: `;
  const head = `${severity.padEnd(9)}  ${check.padEnd(10)}  `;
  const width = Math.max(20, layout.width - head.length);
  const told = laidOut(printable(`${named}${what}`), 0, palette.plain, width);
  const advice =
    severity === 'ok' || hint === undefined
      ? []
      : laidOut(printable(hint), 0, palette.quiet, width);
  return [...told, ...advice].map((line, at) =>
    at === 0 ? paint(head) + line : ' '.repeat(head.length) + line,
  );
}

function summary(findings: readonly Finding[], { palette }: Layout): string {
  const count = (severity: Severity): number =>
    findings.filter((one) => one.severity === severity).length;
  const errors = count('error');
  const warnings = count('warning');
  const unchecked = count('unchecked');
  const left = unchecked === 0 ? '' : `, ${unchecked} not checked`;
  const text = `${counted(errors, 'error', 'errors')}, ${counted(warnings, 'warning', 'warnings')}${left}`;
  return errors > 0 ? palette.failure(text) : palette.strong(text);
}

/** Looks at all parts of a host without a start of it. Extensions and plugins are set up, and disposed again. */
async function examine(settings: Settings, shell: Shell): Promise<Finding[]> {
  const { config } = settings;
  const read = config === undefined ? 'there is no config file; defaults apply' : config.file;
  const findings = [findingsOf('config').ok(read)];
  const declared = config === undefined ? [] : await declaredChannels(settings);
  if (config !== undefined) findings.push(...checkSecrets(config, settings.extensions, declared));
  let pipeline: Pipeline;
  try {
    pipeline = await openPipeline(settings, silentLogger);
  } catch (thrown) {
    if (!(thrown instanceof CommandError)) throw thrown;
    return [...findings, findingsOf('config').thrown(thrown)]; // a grant or an override that the kernel refuses
  }
  await using open = pipeline;
  const { kernel, plugins, errors } = open;
  const pluginIds = plugins.map(({ pluginId }) => pluginId);
  const { live: extensions, statuses } = open.extensions;
  const agents = await agentsOf(settings, shell, open.extensions, findings);
  const provided = extensions.flatMap((one) => one.provided('channel'));
  const registered = extensions.flatMap((one) =>
    one.registered().map((registration) => ({ extensionId: one.extensionId, registration })),
  );
  const routes = extensions.flatMap((one) =>
    one.provided('route').map((route) => ({ extensionId: one.extensionId, route })),
  );
  const storing = [...statuses.map(({ extensionId }) => extensionId), ...pluginIds]; // plugins keep values, too
  const channels = settings.channels ?? ['console', ...provided.map(({ id }) => id)];
  findings.push(
    ...errors.map((error) => findingsOf('extensions').thrown(error)),
    ...checkGrants(settings, statuses, pluginIds),
    ...(await checkChannels(channels, provided, settings.workspaceDir)),
    ...checkRoles(settings, channels, provided),
    ...checkRoutes(routes, settings),
    ...(await checkJournal(settings, storing, registered)),
    ...(await checkFamilies({ kernel, providers: agents, channels })),
    ...checkPreviews(kernel),
    ...(await checkMatches(kernel.stages(), settings.place)),
  );
  for (const { pluginId, error } of plugins)
    if (error === undefined) findings.push(setUp('plugins', pluginId));
  for (const extension of extensions.toReversed()) findings.push(...(await undone(extension)));
  return findings;
}

function setUp(check: 'extensions' | 'plugins', whose: string): Finding {
  return findingsOf(check).ok('was set up, and disposed again', whose);
}

/** Disposes an extension, and reports what could not be undone. */
async function undone(extension: LoadedExtension): Promise<Finding[]> {
  const { failures } = await extension.dispose();
  if (failures.length === 0) return [setUp('extensions', extension.extensionId)];
  const hint = 'Fix what undoes it: after a reload, what is left would be there twice.';
  return failures.map(({ label, error }) => {
    const what = `"${label}" could not be undone: ${oneLine(error)}`;
    return findingsOf('extensions').error(what, extension.extensionId, hint);
  });
}

/** Makes the agents, without asking them anything. A gateway is connected to, because only that shows that it lets the host in. */
async function agentsOf(
  settings: Settings,
  shell: Shell,
  extensions: Pipeline['extensions'],
  findings: Finding[],
): Promise<AgentProvider[]> {
  const agentFindings = findingsOf('agents');
  const onMalformed: AgentContext['onMalformed'] = (file, line) =>
    void findings.push(agentFindings.thrown(lineError(file, line)));
  await using scope = new Scope('agents');
  try {
    const agents = await agentDefinitions(settings, extensions, {
      ...shell,
      ...{ plugins: [], logger: silentLogger, scope, onMalformed },
    });
    const ids = new Set(agents.map(({ id }) => id));
    const all = [
      ...agents,
      ...[...providedAgents(extensions).values()].filter(({ id }) => !ids.has(id)),
    ];
    for (const { id, provider, timeoutMs = usualTurnMs } of all) {
      const limit = timeoutMs === false ? 'has no time limit' : `takes ${timeoutMs} ms at most`;
      findings.push(agentFindings.ok(`answered by "${provider.id}", a turn ${limit}`, id));
      await provider.tried?.();
      for (const { whose, what, detail = 'Fix it, or do without it.' } of provider.troubles?.() ??
        [])
        findings.push(agentFindings.warning(what, `${id}: ${whose}`, detail));
    }
    return all.map(({ provider }) => provider);
  } catch (thrown) {
    findings.push(agentFindings.thrown(thrown));
    return [];
  }
}
