import { Readable, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { claudeAddition } from '../../src/claude/internal.js';
import { type Addition, runCommandLine } from '../../src/cli/index.js';
import { outputTo } from '../../src/cli/shell/output.js';
import { plainPalette } from '../../src/cli/shell/palette.js';
import { openclawAddition } from '../../src/openclaw/internal.js';
import { postgresJournals } from '../../src/postgres/internal.js';
import type { TerminalScreen } from '../../src/sdk/channel/index.js';
import { type CliSurroundings, type Ended, withoutSlowness } from './cli.js';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** Where a command line runs in this process. */
interface MemorySurroundings extends CliSurroundings {
  /** What stdout is, where it is a terminal. */
  readonly screen?: TerminalScreen;
  /** What is added to the command line; by default what `sluice` adds. */
  readonly additions?: readonly Addition[];
  /** Aborts as the first Ctrl-C does. */
  readonly stop?: AbortSignal;
}

const ofSluice = [claudeAddition, openclawAddition];

/** Runs a command line in this process, with streams in memory: for what needs no process of its own. */
export async function runInMemory(
  args: readonly string[],
  input: string | Readable = '',
  {
    cwd = root,
    env = {},
    screen,
    additions = ofSluice,
    stop = new AbortController().signal,
  }: MemorySurroundings = {},
): Promise<Ended> {
  const written = { stdout: '', stderr: '' };
  const outputFor = (name: keyof typeof written) =>
    outputTo(
      new Writable({
        decodeStrings: false,
        write: (chunk: string, _encoding, done) => {
          written[name] += chunk;
          done();
        },
      }),
    );
  const stdout = outputFor('stdout');
  const stderr = outputFor('stderr');
  const code = await runCommandLine({
    args,
    stdin: typeof input === 'string' ? Readable.from([input]) : input,
    stdout,
    stderr,
    cwd,
    env,
    version: '0.0.0',
    additions,
    journals: [postgresJournals],
    isTerminal: { stdin: false, stdout: screen !== undefined, stderr: false },
    screen,
    width: 80,
    palettes: { stdout: plainPalette, stderr: plainPalette },
    stop,
    onInterrupt: () => undefined,
    onHangup: () => undefined,
  });
  await Promise.all([stdout.flush(), stderr.flush()]);
  return { code, stdout: written.stdout, stderr: withoutSlowness(written.stderr) };
}
