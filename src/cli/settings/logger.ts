import { createWriteStream } from 'node:fs';
import {
  allFields,
  type ErrorSummary,
  type LogLevel,
  pinoLogger,
  publicFields,
} from '@sluice/host/internal';
import { makePrivate, type Scrub } from '@sluice/journal/internal';
import { definedFields, type Logger, loggerWith, oneLine } from 'sluice-kernel/internal';
import { jsonLine } from '../print/json-line.js';
import { type Output, outputTo } from '../shell/output.js';
import type { Shell } from '../shell/shell.js';
import { printable } from '../shell/text.js';
import type { Settings } from './settings.js';

const levels = ['debug', 'info', 'warn', 'error'] as const satisfies readonly LogLevel[];

/**
 * Opens the log that the settings ask for: lines for people or lines of JSON on stderr, or a file. The shell's stderr
 * takes secrets out.
 *
 * @param level the lowest level that is shown if neither the settings nor `--debug` name one.
 */
export function openLog(
  { logging, secrets }: Settings,
  { stderr, stdout, isTerminal }: Pick<Shell, 'stderr' | 'stdout' | 'isTerminal'>,
  {
    level: usual,
    debug,
    scrub,
  }: { readonly level: LogLevel; readonly debug: boolean; readonly scrub?: Scrub | undefined },
): AsyncDisposable & { readonly logger: Logger } {
  const { format = 'text', file } = logging;
  const level = debug
    ? 'debug'
    : (logging.level ?? (format === 'text' && file === undefined ? usual : 'info'));
  if (file !== undefined) {
    makePrivate(file, []);
    const stream = createWriteStream(file, { flags: 'a', mode: 0o600 });
    const output = outputTo(stream);
    const warnOnce = (): void =>
      stderr.lines([`sluice: warn: the log file "${printable(file)}" cannot be written`]);
    output.gone.addEventListener('abort', warnOnce, { once: true });
    const write = (line: string): void => void output.write(line).catch(() => undefined);
    return {
      logger: pinoLogger({ level, write, secrets, scrub }),
      [Symbol.asyncDispose]: () => output.flush(),
    };
  }
  const write = (line: string): void => stderr.lines([line.trimEnd()]);
  return {
    logger:
      format === 'json'
        ? pinoLogger({ level, write, secrets })
        : lineLogger(stderr, level, stdout.gone, isTerminal.stdin),
    [Symbol.asyncDispose]: () => stderr.flush(),
  };
}

/**
 * Makes a logger that writes one line per entry, from a level up. At level `debug` it shows all fields as JSON; else in
 * words those that the message does not say, and of an error its code, its text if that holds nobody's words, and its place.
 *
 * @param isOwn a person sits at this terminal, and sees the texts of all errors.
 * @param muted silences the logger: after the reader of the output has gone, each write fails for that reason alone.
 */
export function lineLogger(
  output: Output,
  from: LogLevel,
  muted: AbortSignal,
  isOwn = false,
): Logger {
  return loggerWith((level, message, fields = {}) => {
    if (muted.aborted || levels.indexOf(level) < levels.indexOf(from)) return;
    const extra = from === 'debug' ? shownAll(fields) : summed(message, fields, isOwn);
    output.lines([printable(`sluice: ${level}: ${message}${extra}`)]);
  });
}

function shownAll(fields: Readonly<Record<string, unknown>>): string {
  return Object.keys(fields).length === 0 ? '' : ` ${jsonLine(allFields(fields))}`;
}

/** Fields that a message says in its own words. */
const inWords = new Set(['extensionId', 'contributionId', 'family', 'kind', 'policy', 'code']);

/**
 * Shows the fields that a message does not say, and an error or a reason:
 * `(server: lab; setup-ended: it was called too late at /srv/acme.js:12:5)`. It says so if a text is left out.
 */
function summed(
  said: string,
  { error, cause = error, detail, ...rest }: Readonly<Record<string, unknown>>,
  isOwn: boolean,
): string {
  const told = Object.entries(definedFields(rest))
    .map(([name, value]) => [name, typeof value === 'string' ? value : jsonLine(value)] as const)
    .filter(([name, text]) => !inWords.has(name) && !said.includes(text))
    .map(([name, text]) => `${name}: ${text}`);
  const all = [...told, ...reasonOf(cause ?? detail, isOwn)];
  return all.length === 0 ? '' : ` (${all.join('; ')})`;
}

function reasonOf(reason: unknown, isOwn: boolean): readonly string[] {
  if (reason === undefined) return [];
  const shown = (isOwn ? allFields : publicFields)({ error: reason })['error'];
  if (typeof shown !== 'object') return [isOwn ? oneLine(reason) : '--debug shows more'];
  const { type, code = type, message, at } = shown as ErrorSummary; // of an error
  const text = message === undefined ? code : `${code}: ${message}`;
  const error = at === undefined ? text : `${text} at ${at}`;
  return message === undefined ? [error, '--debug shows more'] : [error];
}
