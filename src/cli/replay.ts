import { basename } from 'node:path';
import type { Command } from 'commander';
import { asCliCommand } from './cli-command.js';
import { jsonPrinter, linePrinter } from './dispatch-printer.js';
import { errorLine } from './error-line.js';
import { type ExitCode, exitCodeHelp, exitCodes } from './exit-codes.js';
import { openLog } from './logger.js';
import { openPipeline } from './pipeline.js';
import { checkRecording, readRecordingFile } from './recording-file.js';
import { replayRecording } from './replay-recording.js';
import { addPipelineOptions, type PipelineOptions, readSettings } from './settings.js';
import type { Shell } from './shell.js';

const help = `
A recording holds one message of a Claude Agent SDK stream a line. Each of its runs
goes through the pipeline as an agent turn, without a channel: nothing is sent. Its
tools ran long ago: a veto of one is a failure entry. A line that is no message is
named on stderr, the rest goes on, and the exit code is 1.

Examples:
  $ sluice replay session.jsonl
  $ sluice replay --extension ./audit.js --json *.jsonl

${exitCodeHelp}`;

/** Adds `sluice replay`: recordings through the pipeline, without a channel. */
export function addReplay(program: Command, shell: Shell, done: (code: ExitCode) => void): void {
  const command = program
    .command('replay')
    .description('run recorded agent streams through the pipeline')
    .argument('<file...>', 'recordings, one JSON message a line; - for stdin');
  addPipelineOptions(command)
    .option('--json', 'print a line of JSON per dispatch')
    .addHelpText('after', help)
    .action(async (files: string[], options: PipelineOptions) =>
      done(await replay(files, options, shell)),
    );
}

async function replay(
  files: readonly string[],
  options: PipelineOptions,
  shell: Shell,
): Promise<ExitCode> {
  for (const file of files) await checkRecording(file, shell.cwd);
  const settings = await readSettings(options, shell);
  const debug = options.debug === true;
  await using log = openLog(settings, shell, { level: 'error', debug });
  const { logger } = log;
  const printer = options.json === true ? jsonPrinter(shell) : linePrinter(shell);
  let failed = false;
  const report = (error: unknown): void => {
    failed = true;
    shell.stderr.lines([errorLine(error, debug)]);
  };
  await using pipeline = await openPipeline(settings, logger, { tap: printer.tap, trace: true });
  const { kernel, errors } = pipeline;
  errors.forEach(report);
  const exitCode = await asCliCommand(kernel, 'replay', shell, async () => {
    for (const file of files) {
      if (shell.stop.aborted) break;
      const frames = readRecordingFile(file, shell, report);
      await replayRecording({ kernel, logger, name: basename(file), frames, stop: shell.stop });
    }
    return failed ? exitCodes.failed : exitCodes.ok;
  });
  printer.finish();
  return exitCode;
}
