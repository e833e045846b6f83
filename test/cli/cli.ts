import { type ChildProcessByStdio, spawn } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { cliProgram } from '../support/compiled.js';

/** The folder of the project. */
export const root = fileURLToPath(new URL('../..', import.meta.url));

/** How a process ended, and all that it wrote. */
export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** The warning of the watch if the machine gives this process no time: it is true, and tells nothing of the command. */
const slowness = /^.*(everything was blocked|blocked everything) for \d+ ms.*\n/gm;

/** A text of stderr without what depends on how fast the machine is. */
export function withoutSlowness(text: string): string {
  return text.replace(slowness, '');
}

/** The path of a file in `fixtures`. */
export function fixture(name: string): string {
  return fileURLToPath(new URL(`fixtures/${name}`, import.meta.url));
}

/** Where a command line runs: the project's folder, with nothing but PATH in its environment, where unsaid. */
export interface CliSurroundings {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** The real command line in a process of its own. */
export class CliProcess {
  readonly child: ChildProcessByStdio<Writable, Readable, Readable>;
  readonly ended: Promise<Ended>;
  #stdout = '';
  #stderr = '';
  #onOutput: () => void = () => undefined;

  constructor(args: readonly string[], { cwd = root, env = {} }: CliSurroundings = {}) {
    this.child = spawn(process.execPath, [cliProgram, ...args], {
      cwd,
      env: { PATH: process.env['PATH'], ...env },
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    this.child.stdin.on('error', () => undefined); // it may end before it has read everything
    this.child.stdout.setEncoding('utf8').on('data', (text: string) => {
      this.#stdout += text;
      this.#onOutput();
    });
    this.child.stderr.setEncoding('utf8').on('data', (text: string) => {
      this.#stderr += text;
      this.#onOutput();
    });
    this.ended = new Promise((resolve, reject) => {
      this.child.once('error', reject);
      this.child.once('close', (code) =>
        resolve({ code, stdout: this.#stdout, stderr: this.stderr }),
      );
    });
  }

  /** The text that it has written to stderr so far, without what a slow machine adds. */
  get stderr(): string {
    return withoutSlowness(this.#stderr);
  }

  /** How often its output, on either stream, holds a text so far. */
  count(text: string): number {
    return `${this.#stdout}${this.#stderr}`.split(text).length - 1;
  }

  /** Resolves when its output, on either stream, holds a text. Rejects where it ends before. */
  until(text: string): Promise<void> {
    return this.untilCount(text, 1);
  }

  /** Resolves when its output holds a text so many times. Rejects where it ends before. */
  async untilCount(text: string, times: number): Promise<void> {
    const seen = new Promise<'seen'>((resolve) => {
      this.#onOutput = () => {
        if (this.count(text) >= times) resolve('seen');
      };
      this.#onOutput();
    });
    const first = await Promise.race([seen, this.ended]);
    if (first !== 'seen')
      throw new Error(`it ended (${first.code}) before it wrote "${text}":\n${first.stderr}`);
  }
}

/** Runs a command line to its end, with an input that ends too. */
export function runCli(
  args: readonly string[],
  input = '',
  surroundings: CliSurroundings = {},
): Promise<Ended> {
  const cli = new CliProcess(args, surroundings);
  cli.child.stdin.end(input);
  return cli.ended;
}

/** The values of JSON lines. */
export function jsonLines<T>(text: string): T[] {
  return text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as T); // what the test expects of them, it asserts
}
