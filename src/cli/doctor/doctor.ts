import type { Command } from 'commander';
import { CommandError } from '../errors/command-error.js';
import { ConfigError } from '../errors/config-error.js';
import { jsonLine } from '../print/json-line.js';
import {
  addPipelineOptions,
  type PipelineOptions,
  readSettings,
  type Settings,
} from '../settings/settings.js';
import { type ExitCode, exitCodes } from '../shell/exit-codes.js';
import type { Shell } from '../shell/shell.js';
import { examine } from './examine.js';
import { type Finding, findingsOf } from './finding.js';
import { findingsView } from './findings-view.js';

interface DoctorOptions extends PipelineOptions {
  readonly agent?: string;
  readonly channel?: string;
}

const help = `
Checks all that \`sluice run\` would use, without starting it: no channel is connected, no
agent asked and no handler called. Extensions and plugins are set up, and disposed again.
A probe event goes through each stage with a stand-in for each handler, and doctor reports
each handler that it does not reach.

An error is something that does not work; the exit code is then 1. A warning works, and
should be looked at.

Examples:
  $ sluice doctor
  $ sluice doctor --config my.config.json --extension ./quiet-hours.js
  $ sluice doctor --json | grep '"severity":"error"'`;

/** Adds `sluice doctor`, which finds the mistakes of a host before it runs. */
export function addDoctor(command: Command, shell: Shell, done: (code: ExitCode) => void): void {
  addPipelineOptions(command)
    .option('-a, --agent <name>', 'as of `sluice run`')
    .option('--channel <name>', 'as of `sluice run`')
    .option('--json', 'print a line of JSON per finding')
    .addHelpText('after', help)
    .action(async (options: DoctorOptions) => done(await doctor(options, shell)));
}

async function doctor(options: DoctorOptions, shell: Shell): Promise<ExitCode> {
  const findings: Finding[] = [versions(shell)];
  const settings = await settingsOrFindings(options, shell);
  if (isFindings(settings)) findings.push(...settings);
  else findings.push(...(await examine(settings, shell)));
  const { palettes, width } = shell;
  shell.stdout.lines(
    options.json === true
      ? findings.map((one) => jsonLine(one))
      : findingsView(findings, { palette: palettes.stdout, width }),
  );
  return findings.some(({ severity }) => severity === 'error') ? exitCodes.failed : exitCodes.ok;
}

function isFindings(settings: Settings | readonly Finding[]): settings is readonly Finding[] {
  return Array.isArray(settings);
}

function versions({ version }: Shell): Finding {
  const { versions: of, platform, arch } = process;
  return findingsOf('versions').ok(`sluice ${version} on Node ${of.node}, ${platform} ${arch}`);
}

/** Reads the settings; if they cannot be read, returns every reason as a finding. */
async function settingsOrFindings(
  options: DoctorOptions,
  shell: Shell,
): Promise<Settings | readonly Finding[]> {
  try {
    return await readSettings(options, shell);
  } catch (thrown) {
    if (!(thrown instanceof CommandError)) throw thrown;
    const problems = thrown instanceof ConfigError ? thrown.each : [thrown];
    return problems.map((one) => findingsOf('config').thrown(one));
  }
}
