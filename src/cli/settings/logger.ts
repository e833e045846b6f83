import { createWriteStream } from 'node:fs';
import { resolve } from 'node:path';
import { type LogLevel, pinoLogger } from '../../host/index.js';
import { allFields, type ErrorSummary, makePrivate, publicFields } from '../../host/internal.js';
import { type Logger, loggerWith, oneLine } from '../../kernel/index.js';
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
  { logging, config, workspaceDir, secrets }: Settings,
  { stderr, stdout, isTerminal }: Pick<Shell, 'stderr' | 'stdout' | 'isTerminal'>,
  { level: usual, debug }: { readonly level: LogLevel; readonly debug: boolean },
): AsyncDisposable & { readonly logger: Logger } {
  const { format = 'text', file } = logging;
  const level = debug
    ? 'debug'
    : (logging.level ?? (format === 'text' && file === undefined ? usual : 'info'));
  if (file !== undefined) {
    const path = resolve(config?.folder ?? workspaceDir, file);
    makePrivate(path, []);
    const stream = createWriteStream(path, { flags: 'a', mode: 0o600 });
    const output = outputTo(stream);
    const warnOnce = (): void =>
      stderr.lines([`sluice: warn: the log file "${printable(file)}" cannot be written`]);
    output.gone.addEventListener('abort', warnOnce, { once: true });
    const write = (line: string): void => void output.write(line).catch(() => undefined);
    return {
      logger: pinoLogger({ level, write, secrets }),
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
 * Makes a logger that writes one line per entry, from a level up. At level `debug` it shows all fields; else of an error
 * its code, its text if that holds nobody's words, and the place that it comes from.
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
    const extra = from === 'debug' ? shownAll(fields) : summed(fields, isOwn);
    output.lines([printable(`sluice: ${level}: ${message}${extra}`)]);
  });
}

function shownAll(fields: Readonly<Record<string, unknown>>): string {
  return Object.keys(fields).length === 0 ? '' : ` ${jsonLine(allFields(fields))}`;
}

/** Shows an error: `(setup-ended: it was called too late at /srv/acme.js:12:5)`; says so if a text is left out. */
function summed(
  { error, cause = error }: Readonly<Record<string, unknown>>,
  isOwn: boolean,
): string {
  if (cause === undefined) return '';
  const shown = (isOwn ? allFields({ cause }) : publicFields({ cause }))['cause'];
  if (typeof shown !== 'object') return isOwn ? ` (${oneLine(cause)})` : ' (--debug shows more)';
  const { type, code = type, message, at } = shown as ErrorSummary; // of an error
  const text = message === undefined ? '' : `: ${message}`;
  const more = message === undefined ? '; --debug shows more' : '';
  return ` (${code}${text}${at === undefined ? '' : ` at ${at}`}${more})`;
}
