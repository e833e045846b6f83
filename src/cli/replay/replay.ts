import { basename } from 'node:path';
import { cutOff, runAgentTurn } from '@sluice/agent';
import { contributeDefaultChoices } from '@sluice/host/internal';
import type { JournalReader } from '@sluice/journal';
import type { AgentProvider, TranscriptEntry } from '@sluice/sdk/stream';
import type { Instrument, Kernel, Logger } from 'sluice-kernel/internal';
import { badArguments, checkNotStopped } from '../errors/command-error.js';
import { errorLine } from '../errors/error-line.js';
import { openJournalOf } from '../journal/journal-of.js';
import { openPipeline } from '../pipeline/pipeline.js';
import { dispatchPrinter } from '../print/dispatch-printer.js';
import { withProgress } from '../print/progress-bar.js';
import { addPipelineOptions, type PipelineOptions } from '../settings/flags.js';
import { openLog } from '../settings/logger.js';
import { checkRecording, lineError, recordingLines } from '../settings/recording-file.js';
import { readSettings } from '../settings/settings.js';
import { asCliCommand } from '../shell/cli-command.js';
import { type ExitCode, exitCodes } from '../shell/exit-codes.js';
import type { AddCommand, Addition, RecordingReader, Shell } from '../shell/shell.js';
import { chosenDispatches, type JournalReplayOptions } from './chosen-dispatches.js';
import { type EffectsTrap, trapEffects } from './effects-trap.js';
import { observersOf, replayJournal } from './replay-journal.js';

const help = `
A recording holds one message of a Claude Agent SDK stream a line. Each of its runs
goes through the pipeline as an agent turn, without a channel: nothing is sent. Its
tools ran long ago: a veto of one is a failure entry. A line that is no message is
named on stderr, the rest goes on, and the exit code is 1.

With --journal, what a host has dispatched is dispatched again through the extensions
of today, and what would differ is printed. Without a file it is the journal of the
config, which may be in PostgreSQL. Nothing is sent and no agent is asked.
Observers are off, unless --observers is given. Extensions can read files, but reach no
network, write no file and start no process, unless --allow-io is given. The exit code
is 1 if anything would differ.

Examples:
  $ sluice replay session.jsonl
  $ sluice replay --journal ./sluice.db --extension ./quiet-hours.js
  $ sluice replay --journal --family egress.preparing --last 20
  $ sluice replay --journal ./sluice.db --event EVENT_ID --payload edited.json
  $ sluice replay --extension ./audit.js --json *.jsonl`;

/** Adds `sluice replay`, which runs recordings or a journal through the pipeline, without a channel. */
export const addCommand: AddCommand = (command, shell, done) => {
  command.argument(
    '[file...]',
    'recordings, one JSON message a line; - for stdin, "example" for one that comes along',
  );
  addPipelineOptions(command)
    .option('--json', 'print a line of JSON per dispatch')
    .option('-j, --journal [file]', 'dispatch again what a journal (of the config) has kept')
    .option('--event <id>', 'of the journal, this dispatch alone')
    .option('--payload <file>', 'of that dispatch, with this payload: JSON, or - for stdin')
    .option('--family <name>', 'of the journal, the dispatches of this family')
    .option('--last <number>', 'of those, so many, the newest')
    .option('--observers', 'call observers, too')
    .option('--allow-io', 'let extensions do what they like')
    .addHelpText('after', help)
    .action(async (files: string[], options: ReplayOptions) =>
      done(await replay(files, options, shell)),
    );
};

interface ReplayOptions extends PipelineOptions, JournalReplayOptions {
  readonly journal?: string | true;
}

async function replay(
  files: readonly string[],
  { journal, ...options }: ReplayOptions,
  shell: Shell,
): Promise<ExitCode> {
  if ((files.length === 0) === (journal === undefined))
    throw badArguments(
      'name recordings, or a journal by --journal, and not both',
      'See `sluice replay --help`.',
    );
  if (journal !== undefined) return replayFromJournal(journal, options, shell);
  for (const file of files) checkRecording(file, shell.cwd);
  const { recordedRuns } = await recordingReader(shell.additions);
  const settings = await readSettings(options, shell);
  const debug = options.debug === true;
  await using log = openLog(settings, shell, { level: 'error', debug });
  const { logger } = log;
  const printer = dispatchPrinter(shell, options);
  let failed = false;
  const report = (error: unknown): void => {
    failed = true;
    shell.stderr.lines([errorLine(error, debug)]);
  };
  await using pipeline = await openPipeline(settings, logger, { tap: printer.tap, trace: true });
  const { kernel, errors } = pipeline;
  errors.forEach(report);
  const stop = shell.takeStop();
  const exitCode = await asCliCommand(kernel, 'replay', shell, async () => {
    for (const file of files) {
      if (stop.aborted) break;
      const runs = recordedRuns(cutOff(recordingLines(file, shell), stop), (line) =>
        report(lineError(file, line)),
      );
      await replayRecording({ kernel, logger, name: basename(file), runs, stop });
    }
    checkNotStopped(shell, 'not all of it was replayed');
    return failed ? exitCodes.failed : exitCodes.ok;
  });
  printer.finish();
  return exitCode;
}

/** A recording, with the pipeline that it goes through. */
interface Replaying {
  readonly kernel: Kernel;
  readonly logger: Logger;
  /** The name of its session and of its runs. */
  readonly name: string;
  /** The agent of each run. */
  readonly runs: AsyncIterable<AgentProvider>;
  /** Ends it after the run that it has reached. */
  readonly stop: AbortSignal;
}

/** A recording holds what the agent sent, not what it was asked. */
const prompt = '(not recorded)';

/**
 * Carries a recording through the pipeline: each of its runs is an agent turn of one session. Nothing is sent
 * anywhere. The recording is read as a stream: one message at a time, as the turn wants it.
 */
async function replayRecording(replaying: Replaying): Promise<void> {
  const { kernel, logger, name, runs, stop } = replaying;
  const history: TranscriptEntry[] = [];
  let count = 0;
  for await (const provider of runs) {
    if (stop.aborted) return;
    await runAgentTurn({
      kernel,
      logger,
      provider,
      runId: `${name}#${++count}`,
      session: {
        agentId: 'recorded',
        sessionKey: name,
        sessionId: name,
        history: [...history],
        append: (message) => {
          history.push(message);
        },
      },
      message: { text: prompt },
      trigger: 'replay',
    });
  }
}

async function recordingReader(additions: readonly Addition[]): Promise<RecordingReader> {
  const load = additions.find(({ recordings }) => recordings !== undefined)?.recordings;
  if (load !== undefined) return load();
  throw badArguments('recordings are named, and nothing here reads them', 'Leave them out.');
}

/**
 * Replays a journal through the extensions of the settings, with every way out of the process shut (spec §20.7).
 *
 * @throws CommandError as the settings and the journal do.
 */
async function replayFromJournal(
  journal: string | true,
  options: JournalReplayOptions & PipelineOptions,
  shell: Shell,
): Promise<ExitCode> {
  const settings = await readSettings(options, shell);
  const debug = options.debug === true;
  await using log = openLog(settings, shell, { level: 'error', debug });
  await using reader = await openJournalOf({ ...options, journal }, shell);
  using trap = options.allowIo === true ? undefined : trapEffects();
  const [newest] = await reader.dispatches({ withinLast: 1, limit: 1 });
  let [first, last] = [0, 0];
  const dispatches: JournalReader['dispatches'] = async (filter) => {
    const read = () => reader.dispatches(filter);
    const found = await (trap === undefined ? read() : trap.outside(read));
    first ||= found[0]?.seq ?? 0;
    last = found.at(-1)?.seq ?? last;
    return found;
  };
  await using pipeline = await openPipeline(settings, log.logger, {
    trace: true,
    ...(options.observers !== true && { instrument: silentObservers }),
  });
  const { kernel, errors } = pipeline;
  shell.stderr.lines(errors.map((error) => errorLine(error, debug)));
  contributeDefaultChoices(kernel); // the last resort of a host, without which a selection would fail closed
  const isOff = options.observers === true ? () => false : observersOf(kernel);
  shell.takeStop();
  const json = options.json === true;
  const work = async (clear: () => void) => {
    const records = await chosenDispatches({ dispatches }, kernel, options, shell);
    return replayJournal(kernel, shell, { json, isOff, records, clear });
  };
  const read = (): number => (last - first) / ((newest?.seq ?? 0) - first);
  const { differing } = await withProgress(shell, { json }, 'read and replayed', work, read);
  reportAttempts(trap, shell);
  checkNotStopped(shell, 'not all of it was replayed');
  return differing === 0 && errors.length === 0 ? exitCodes.ok : exitCodes.failed;
}

/** Observers decide nothing and only have effects, so they are not called. */
const silentObservers: Instrument = (handler, { class: handlerClass }) =>
  handlerClass === 'observer' ? () => undefined : handler;

/** Names the effects that extensions tried and could not have: their decisions may differ for that. */
function reportAttempts(trap: EffectsTrap | undefined, { stderr }: Pick<Shell, 'stderr'>): void {
  const attempts = [...(trap?.attempts ?? [])];
  if (attempts.length === 0) return;
  stderr.lines([
    `sluice: warn: extensions tried what a dry run has not: ${attempts.join(', ')}. Their decisions may differ for that alone; --allow-io lets them.`,
  ]);
}
