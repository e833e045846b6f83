import type { Command } from 'commander';
import { silentLogger } from '../../kernel/index.js';
import { errorLine } from '../errors/error-line.js';
import { openPipeline } from '../pipeline/pipeline.js';
import { jsonLine } from '../print/json-line.js';
import {
  addPipelineOptions,
  type PipelineOptions,
  readSettings,
  type Settings,
} from '../settings/settings.js';
import { asCliCommand } from '../shell/cli-command.js';
import { type ExitCode, exitCodes } from '../shell/exit-codes.js';
import type { Shell } from '../shell/shell.js';
import { stageData, stageTable } from './stage-table.js';

interface StagesOptions extends PipelineOptions {
  readonly agent?: string;
}

const help = `
Under a stage stand its handlers in run order, and what is special about it.

Examples:
  $ sluice stages
  $ sluice stages --extension ./quiet-hours.js
  $ sluice stages --json | head -1`;

/** Adds `sluice stages`: the catalog with the loaded handlers. */
export function addStages(command: Command, shell: Shell, done: (code: ExitCode) => void): void {
  addPipelineOptions(command)
    .option('-a, --agent <name>', 'mark what this agent only reports: echo, replay:FILE')
    .option('--json', 'print a line of JSON per stage')
    .addHelpText('after', help)
    .action(async (options: StagesOptions) => done(await stages(options, shell)));
}

async function stages(options: StagesOptions, shell: Shell): Promise<ExitCode> {
  const settings = await readSettings(options, shell);
  await using pipeline = await openPipeline(settings, silentLogger);
  const { kernel, errors } = pipeline;
  // awaited here: the pipeline is open until the command has ended
  return await asCliCommand(kernel, 'stages', shell, async () => {
    shell.stderr.lines(errors.map((error) => errorLine(error, options.debug === true)));
    const observeOnly = observeOnlyFamilies(settings);
    const lines =
      options.json === true
        ? kernel.stages().map((info) => jsonLine(stageData(info, observeOnly)))
        : stageTable(kernel.stages(), {
            palette: shell.palettes.stdout,
            width: shell.width,
            observeOnly,
          });
    shell.stdout.lines(lines);
    return errors.length === 0 ? exitCodes.ok : exitCodes.failed;
  });
}

/** The stages whose events a chosen agent tells of when they have happened. */
function observeOnlyFamilies({ agents }: Settings): ReadonlySet<string> {
  const isReplay = agents.some(({ choice }) => choice.kind === 'replay');
  return new Set(isReplay ? ['agent.tool.calling'] : []);
}
