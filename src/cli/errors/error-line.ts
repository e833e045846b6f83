import { authorPlace } from '@sluice/host/internal';
import { inertText, oneLine } from 'sluice-kernel/internal';
import { printable, sentence } from '../shell/text.js';
import { CommandError, ConfigError } from './command-error.js';
import { cureOf, isKnownCause } from './file-error.js';

/**
 * Writes an error as one line: its code, the mistake with its place, and the cure. With `debug` the stack traces of the
 * error and of its causes follow. A config with several mistakes makes a line for each.
 *
 * @example
 * errorLine(new CommandError('missing-file', 'there is no file "x.json"', 'Check the path.'), false);
 * // 'sluice: missing-file: there is no file "x.json". Check the path.'
 */
export function errorLine(thrown: unknown, debug: boolean): string {
  if (thrown instanceof ConfigError)
    return thrown.each.map((problem) => errorLine(problem, debug)).join('\n');
  const { code, what, hint } = partsOf(thrown);
  // the text of those names the option or the file
  const place =
    thrown instanceof CommandError || isFileProblem(thrown) ? undefined : authorPlace(thrown);
  const where = place === undefined || what.includes(place) ? '' : ` It was at ${place}.`;
  const more = !debug && hasCause(thrown) ? ' --debug shows its stack.' : '';
  const line = printable(`sluice: ${code}: ${sentence(what)}${where} ${hint}${more}`.trim());
  return debug ? [line, ...stacks(thrown).map(inertText)].join('\n') : line;
}

function hasCause(thrown: unknown): boolean {
  return thrown instanceof Error && thrown.cause instanceof Error;
}

interface Parts {
  readonly code: string;
  readonly what: string;
  readonly hint: string;
}

/** Reads the parts that every error of the project has. */
function partsOf(thrown: unknown): Parts {
  if (thrown instanceof Error && 'code' in thrown && 'hint' in thrown)
    return { code: String(thrown.code), what: thrown.message, hint: String(thrown.hint) };
  if (isFileProblem(thrown)) return fileProblem(thrown);
  return {
    code: 'unexpected',
    what: oneLine(thrown),
    hint: 'Run it again with --debug for the stack trace.',
  };
}

/** Returns whether the system has refused something with a file, and no command has words for it. */
function isFileProblem(thrown: unknown): thrown is NodeJS.ErrnoException {
  const isOfSystem = thrown instanceof Error && 'syscall' in thrown && !('hint' in thrown);
  return isOfSystem && ('path' in thrown || isKnownCause(thrown)); // a write has a number in place of a path
}

function fileProblem(error: NodeJS.ErrnoException): Parts {
  const isRead = /^(open|read|stat|lstat|scandir|access)$/.test(error.syscall ?? '');
  const code =
    error.code === 'ENOENT' ? 'missing-file' : isRead ? 'unreadable-file' : 'unwritable-file';
  return { code, what: oneLine(error), hint: cureOf(error) };
}

function stacks(thrown: unknown): string[] {
  const found: string[] = [];
  const seen = new Set<unknown>();
  for (let at = thrown; at instanceof Error && !seen.has(at); at = at.cause) {
    seen.add(at);
    found.push(`${seen.size === 1 ? '' : 'caused by '}${at.stack ?? String(at)}`);
  }
  return found;
}
