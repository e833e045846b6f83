import { spawn } from 'node:child_process';
import type { PipelineOptions } from '../settings/settings.js';
import type { Shell } from '../shell/shell.js';

/** The output of a command. */
export interface CommandReport {
  /** A line of JSON each. */
  readonly lines: readonly Readonly<Record<string, unknown>>[];
  readonly notes: readonly string[];
}

const charactersAtMost = 32 * 1024 * 1024;

/**
 * Runs a command of this program with `--json`, in a process of its own: it may load extensions anew, and shut the ways out of
 * its process.
 */
export function ownCommand(
  args: readonly string[],
  { cwd, env, stop }: Pick<Shell, 'cwd' | 'env' | 'stop'>,
  input = '',
): Promise<CommandReport> {
  const [, program = ''] = process.argv;
  const child = spawn(process.execPath, [...process.execArgv, program, ...args, '--json'], {
    ...{ cwd, env, signal: stop, stdio: 'pipe' },
  });
  const texts = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const)
    child[name].setEncoding('utf8').on('data', (text: string) => {
      texts[name] += text;
      if (texts[name].length > charactersAtMost) child.kill();
    });
  child.stdin.on('error', () => undefined); // it may end before it has read everything
  child.stdin.end(input);
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', () =>
      resolve({
        lines: linesOf(texts.stdout).map(
          (line) => JSON.parse(line) as Readonly<Record<string, unknown>>, // each is an object
        ),
        notes: linesOf(texts.stderr),
      }),
    );
  });
}

function linesOf(text: string): readonly string[] {
  return text.split('\n').filter((line) => line !== '');
}

/** The options of the pipeline as they were given, for another command. */
export function pipelineArgs(options: PipelineOptions): readonly string[] {
  const {
    config,
    extension = [],
    set = [],
    plugin = [],
    openclaw,
    legacyProfile,
    strictPlugins,
  } = options;
  const each = (name: string, values: readonly string[]): readonly string[] =>
    values.flatMap((value) => [name, value]);
  return [
    ...(config === false
      ? ['--no-config']
      : each('--config', config === undefined ? [] : [config])),
    ...each('--extension', extension),
    ...each('--set', set),
    ...each('--plugin', plugin),
    ...each('--openclaw', openclaw === undefined ? [] : [openclaw]),
    ...each('--legacy-profile', legacyProfile === undefined ? [] : [legacyProfile]),
    ...(strictPlugins === true ? ['--strict-plugins'] : []),
  ];
}
