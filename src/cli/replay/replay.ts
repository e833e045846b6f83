import { readFileSync } from 'node:fs';
import { basename, resolve } from 'node:path';
import { cutOff, runAgentTurn } from '@sluice/agent';
import { contributeDefaultChoices } from '@sluice/host/internal';
import type { DispatchRecord, JournalReader } from '@sluice/journal';
import type { AgentProvider, TranscriptEntry } from '@sluice/sdk/stream';
import {
  definedFields,
  type FamilyName,
  type Instrument,
  isSluiceError,
  type Kernel,
  type Logger,
  openKernel,
} from 'sluice-kernel/internal';
import { badArguments, checkNotStopped } from '../errors/command-error.js';
import { errorLine } from '../errors/error-line.js';
import { checkFile } from '../errors/file-error.js';
import { allDispatches, openJournalOf, unknownEvent } from '../journal/journal-of.js';
import { openPipeline } from '../pipeline/pipeline.js';
import { dispatchPrinter } from '../print/dispatch-printer.js';
import { addPipelineOptions, type PipelineOptions } from '../settings/flags.js';
import { openLog } from '../settings/logger.js';
import { checkRecording, lineError, recordingLines } from '../settings/recording-file.js';
import { readSettings } from '../settings/settings.js';
import { asCliCommand } from '../shell/cli-command.js';
import { type ExitCode, exitCodes } from '../shell/exit-codes.js';
import type { AddCommand, Addition, RecordingReader, Shell } from '../shell/shell.js';
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

/** The options of a replay of a journal. */
interface JournalReplayOptions {
  readonly event?: string;
  readonly payload?: string;
  readonly family?: string;
  readonly last?: string;
  readonly observers?: boolean;
  readonly allowIo?: boolean;
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
  const dispatches: JournalReader['dispatches'] = (filter) =>
    trap === undefined ? reader.dispatches(filter) : trap.outside(() => reader.dispatches(filter));
  await using pipeline = await openPipeline(settings, log.logger, {
    trace: true,
    ...(options.observers !== true && { instrument: silentObservers }),
  });
  const { kernel, errors } = pipeline;
  shell.stderr.lines(errors.map((error) => errorLine(error, debug)));
  contributeDefaultChoices(kernel); // the last resort of a host, without which a selection would fail closed
  const isOff = options.observers === true ? () => false : observersOf(kernel);
  const records = await chosenDispatches({ dispatches }, kernel, options, shell);
  shell.takeStop();
  const json = options.json === true;
  const { differing } = await replayJournal(kernel, shell, { json, isOff, records });
  reportAttempts(trap, shell);
  checkNotStopped(shell, 'not all of it was replayed');
  return differing === 0 && errors.length === 0 ? exitCodes.ok : exitCodes.failed;
}

/**
 * The records of a journal that the options ask for.
 *
 * @throws CommandError `bad-arguments` if they make no sense together, or the payload does not fit; `unknown-event`.
 */
async function chosenDispatches(
  reader: Pick<JournalReader, 'dispatches'>,
  kernel: Kernel,
  { event: eventId, payload, family, last = '' }: JournalReplayOptions,
  { stdin, cwd }: Pick<Shell, 'stdin' | 'cwd'>,
): Promise<AsyncIterable<DispatchRecord> | readonly DispatchRecord[]> {
  if (last !== '' && family === undefined)
    throw badArguments('--last counts dispatches of a --family', 'Write --family NAME --last 20.');
  if (last !== '' && !/^[1-9]\d{0,4}$/.test(last))
    throw badArguments(`--last is "${last}"`, 'Write a number from 1 to 99999.');
  if (payload !== undefined && eventId === undefined)
    throw badArguments('--payload belongs to one dispatch', 'Name it: --event ID.');
  if (family !== undefined) orBadArguments(() => openKernel(kernel).plan(family));
  const records = allDispatches(reader, definedFields({ eventId, family: family as FamilyName })); // a custom one has some, too
  if (eventId === undefined && last === '') return records;
  const all: DispatchRecord[] = [];
  for await (const record of records) {
    all.push(record);
    if (last !== '' && all.length > Number(last)) all.shift();
  }
  if (eventId !== undefined && all.length === 0) throw unknownEvent(eventId);
  if (payload === undefined) return all;
  const path = resolve(cwd, payload);
  if (payload !== '-')
    checkFile(path, payload, 'Name a file with a payload in JSON, or - for stdin.');
  const text = payload === '-' ? await readText(stdin) : readFileSync(path, 'utf8');
  return all.map((record) => withPayload(record, text, kernel));
}

/** A record as if the payload had been another. What was left out of it then is there now. */
function withPayload(
  { omitted: _, ...record }: DispatchRecord,
  text: string,
  kernel: Kernel,
): DispatchRecord {
  const { payload: __, ...body } = JSON.parse(record.body) as { readonly event: object } & Record<
    string,
    unknown
  >; // as the journal writes it
  let payload: unknown;
  try {
    payload = JSON.parse(text);
  } catch {
    // told below
  }
  if (typeof payload !== 'object' || payload === null || Array.isArray(payload))
    throw badArguments(
      'the payload is no object in JSON',
      'Write one such as {"content":"hello"}.',
    );
  const { config: ___, ...given } = payload as Readonly<Record<string, unknown>>; // a replay leaves it out, too
  orBadArguments(() => openKernel(kernel).parsePayload(record.family, structuredClone(given)));
  return { ...record, body: JSON.stringify({ ...body, event: { ...body.event, payload } }) };
}

/** Has the kernel check a value of the command line. @throws CommandError `bad-arguments`, with its words. */
function orBadArguments(check: () => unknown): void {
  try {
    check();
  } catch (thrown) {
    throw isSluiceError(thrown) ? badArguments(thrown.message, thrown.hint) : thrown;
  }
}

async function readText(stream: AsyncIterable<unknown>): Promise<string> {
  let text = '';
  for await (const part of stream) text += String(part);
  return text;
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
