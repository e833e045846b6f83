import { spawn } from 'node:child_process';
import { isDetached } from '@sluice/sdk/extension/internal';
import type { Shell } from '../shell/shell.js';

/** The output of a command. */
interface CommandReport {
  /** A line of JSON each. */
  readonly lines: readonly Readonly<Record<string, unknown>>[];
  readonly notes: readonly string[];
}

/** The program of a command, by default this one as it was started. */
interface OwnProgram {
  readonly program?: string;
  readonly execArgv?: readonly string[];
  /** Is given what the command writes to stderr, at once. */
  readonly hear?: (text: string) => void;
}

const charactersAtMost = 32 * 1024 * 1024;
/** A replay may be long; an extension that hangs as it is loaded must not hold the page for ever. */
const timeoutMs = 300_000;

/**
 * Runs a command of this program with `--json`, in a process of its own: it may load extensions anew, and shut the ways out of
 * its process.
 */
export function ownCommand(
  args: readonly string[],
  { cwd, env, stop }: Pick<Shell, 'cwd' | 'env' | 'stop'>,
  input = '',
  { program = process.argv[1] ?? '', execArgv = process.execArgv, hear }: OwnProgram = {},
): Promise<CommandReport> {
  const child = spawn(process.execPath, [...execArgv, program, ...args, '--json'], {
    ...{ cwd, env, signal: stop, stdio: 'pipe', timeout: timeoutMs, killSignal: 'SIGKILL' },
    detached: isDetached,
  });
  const texts = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const)
    child[name].setEncoding('utf8').on('data', (text: string) => {
      texts[name] += text;
      if (name === 'stderr') hear?.(text);
      if (texts[name].length > charactersAtMost) child.kill();
    });
  child.stdin.on('error', () => undefined); // it may end before it has read everything
  child.stdin.end(input);
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => {
      const lines = linesOf(texts.stdout).map((line) => objectIn(line) ?? line);
      // an extension may write what it likes to stdout: the host that runs here must not fall over it
      const said = [...lines.filter((line) => typeof line === 'string'), ...linesOf(texts.stderr)];
      const report = { lines: lines.filter((line) => typeof line === 'object'), notes: said };
      if (code === 0 || (code !== null && report.lines.length > 0)) resolve(report);
      else {
        const why = code === null ? 'it took too long, or wrote too much' : said.join(' ');
        reject(new Error(`sluice ${args[0]} failed: ${why}`));
      }
    });
  });
}

function objectIn(line: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === 'object' && value !== null ? { ...value } : undefined;
  } catch {
    return undefined;
  }
}

function linesOf(text: string): readonly string[] {
  return text.split('\n').filter((line) => line !== '');
}
