import { cutOff } from '@sluice/agent';
import {
  type AddCommand,
  CommandError,
  checkNotStopped,
  type ExitCode,
  errorLine,
  exitCodes,
  jsonLine,
  type Output,
  printable,
  type Shell,
} from '@sluice/cli';
import { checkRecording, lineError, recordingLines } from '@sluice/cli/internal';
import type { SessionEvent } from '@sluice/sdk/stream';
import { Option } from 'commander';
import {
  type CsdkFrame,
  coderStream,
  liveRuns,
  normalizeSession,
  type OrderingViolation,
  orderingChecker,
  readFrames,
} from '../../index.js';
import { isSessionLine, readSessionLine, sessionLine } from './session-line.js';

interface NormalizeOptions {
  readonly coder?: boolean;
  readonly check?: boolean;
  readonly json?: boolean;
  readonly debug?: boolean;
}

const help = `
A recording holds one message of a Claude Agent SDK stream a line. It is read as a
stream, a line at a time. A line that is no message is named on stderr with its number,
the rest goes on, and the exit code is 1.

Session events are printed as a line of JSON each, run by run: a run ends with its
result, or with the first one that leaves no task in the background. Everything is
printed once: "message_update" leaves out the message so far (no "message", no
"partial"), "message_start" has no content yet, and "agent_end" leaves out the messages,
which stand in their "message_end".

With --coder the whole recording is one run, with one "done" or "error" at its end.
"originalItem" is left out: it is the recording's own line.

With --check nothing is printed but what is out of order: in a recording, what became of
it; in a file of session events, of any agent, the events themselves.

Examples:
  $ sluice normalize session.jsonl
  $ sluice normalize --coder - < session.jsonl
  $ sluice normalize session.jsonl | sluice normalize --check -`;

/** Adds `sluice normalize`, which prints recordings as session events or coder events. */
export const addCommand: AddCommand = (command, shell, done) => {
  command
    .argument('<file>', 'a recording, one JSON message a line; - for stdin')
    .option('--coder', 'print coder events instead of session events')
    .addOption(
      new Option(
        '--check',
        'print what is out of order, and exit with 1 if something is',
      ).conflicts('coder'),
    )
    .option('--json', 'with --check, print a line of JSON for each (events always are)')
    .option('--debug', 'show stack traces of errors')
    .addHelpText('after', help)
    .action(async (file: string, options: NormalizeOptions) =>
      done(await normalize(file, options, shell)),
    );
};

async function normalize(file: string, options: NormalizeOptions, shell: Shell): Promise<ExitCode> {
  checkRecording(file, shell.cwd);
  let failed = false;
  const report = (error: CommandError): void => {
    failed = true;
    shell.stderr.lines([errorLine(error, options.debug === true)]);
  };
  const lines = readFrames(recordingLines(file, shell), (line) => report(lineError(file, line)));
  const frames = cutOff(lines, shell.takeStop());
  const printer = batchPrinter(shell.stdout);
  try {
    for await (const line of linesOf(frames, options, file, report)) {
      if (options.check === true) failed = true;
      printer.print(line);
      if (shell.stdout.gone.aborted) break;
    }
  } finally {
    printer.finish();
  }
  checkNotStopped(shell, 'not all of it was read');
  return failed ? exitCodes.failed : exitCodes.ok;
}

async function* linesOf(
  frames: AsyncIterable<CsdkFrame>,
  { coder, check, json }: NormalizeOptions,
  file: string,
  report: (error: CommandError) => void,
): AsyncGenerator<string> {
  if (check === true)
    for await (const violation of runViolations(readEvents(frames, file, report)))
      yield json === true ? jsonLine(violation) : violationLine(violation);
  else if (coder === true)
    for await (const { originalItem, ...event } of coderStream(frames)) yield jsonLine(event);
  else for await (const event of sessionEvents(frames)) yield jsonLine(sessionLine(event));
}

async function* sessionEvents(frames: AsyncIterable<CsdkFrame>): AsyncGenerator<SessionEvent> {
  for await (const run of liveRuns(frames, { end: 'settled', idleTimeoutMs: Infinity }))
    yield* normalizeSession(run, { idleTimeoutMs: Infinity });
}

/** Reads the session events of a file, or makes them of the messages in it: its first line decides. */
async function* readEvents(
  lines: AsyncIterable<CsdkFrame>,
  file: string,
  report: (error: CommandError) => void,
): AsyncGenerator<SessionEvent> {
  const reader = lines[Symbol.asyncIterator]();
  const first = await reader.next();
  if (first.done === true) return;
  const all = (async function* () {
    yield first.value;
    yield* { [Symbol.asyncIterator]: () => reader };
  })();
  if (!isSessionLine(first.value)) return yield* sessionEvents(all);
  let number = 0;
  for await (const line of all) {
    number++;
    const event = readSessionLine(line);
    if (event === undefined) report(notAnEvent(file, number, line.type));
    else yield event;
  }
}

function notAnEvent(file: string, number: number, type: string): CommandError {
  return new CommandError(
    'bad-line',
    `${file === '-' ? 'stdin' : file}, event ${number}: "${printable(type)}" is no session event, or has no place`,
    'The rest is read on.',
    { exitCode: exitCodes.failed },
  );
}

/** A violation, with the number of its run in a recording. */
interface RunViolation extends OrderingViolation {
  /** From 1. */
  readonly run: number;
}

/** Checks the events of runs that follow each other: a run begins after each `agent_end`. */
async function* runViolations(events: AsyncIterable<SessionEvent>): AsyncGenerator<RunViolation> {
  let run = 1;
  let checker = orderingChecker();
  let hasEnded = false;
  let isEmpty = true;
  for await (const event of events) {
    isEmpty = false;
    if (hasEnded && event.type === 'agent_start') {
      run++;
      checker = orderingChecker();
      hasEnded = false;
    }
    for (const violation of checker.take(event)) yield { run, ...violation };
    hasEnded ||= event.type === 'agent_end';
  }
  if (!isEmpty) for (const violation of checker.finish()) yield { run, ...violation };
}

/** Writes a violation as a line for people. Events are counted from 1, as runs are. */
function violationLine({ run, index, rule, message }: RunViolation): string {
  return printable(`run ${run}, event ${index + 1}: ${rule}: ${message}`);
}

/** The characters that are held at most before they are written. */
const mostCharacters = 65_536;

/**
 * Writes lines together that come in one turn of the event loop: a write for each costs more than to make them. No line
 * is held for longer, so that a reader of a live stream waits for nothing.
 */
function batchPrinter(output: Output) {
  let lines: string[] = [];
  let characters = 0;
  let isDue = false;
  const write = (): void => {
    if (lines.length > 0) output.lines(lines);
    lines = [];
    characters = 0;
  };
  return {
    print(line: string): void {
      lines.push(line);
      characters += line.length;
      if (characters >= mostCharacters) write();
      else if (!isDue) {
        isDue = true;
        setImmediate(() => {
          isDue = false;
          write();
        });
      }
    },
    /** Writes the lines that are left. */
    finish: write,
  };
}
