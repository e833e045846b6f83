import { type ExplainLine, explain, type Outcome, type Tap } from 'sluice-kernel';
import type { Shell } from '../shell/shell.js';
import { cut, printable } from '../shell/text.js';
import { jsonLine, outcomeLine } from './json-line.js';
import { type Layout, laidOut, layoutOf } from './layout.js';
import { oneMore, type Watched, watched } from './watched.js';

/**
 * Prints dispatches while they come: a line of JSON for each, its outcome as data, or lines for people.
 *
 * @returns the tap that hears them, and the function that prints the lines that were kept back.
 */
export function dispatchPrinter(
  shell: Pick<Shell, 'stdout' | 'palettes' | 'width'>,
  { json }: { readonly json?: boolean },
) {
  const { stdout, palettes } = shell;
  const lines = new DispatchLines(layoutOf(shell, palettes.stdout));
  const print = (outcome: Outcome): readonly string[] =>
    json === true ? [outcomeLine(outcome)] : lines.add(outcome);
  const tap: Tap = { outcome: (outcome) => stdout.lines(print(outcome)) };
  return { tap, finish: () => stdout.lines(lines.flush()) };
}

/** The payload fields that are the same in nearly every dispatch of a run. */
const runFields = new Set([
  'agentId',
  'sessionKey',
  'sessionId',
  'runId',
  'trigger',
  'workspaceDir',
]);

/**
 * Turns dispatches into lines as they come: the family with its payload, then its handlers with their results. Dispatches of
 * one kind that follow one another and that handlers only watched, such as the deltas of a text, become one.
 */
class DispatchLines {
  readonly #layout: Layout;
  #kind = '';
  #head = '';
  #count = 0;
  #watched: Watched | undefined;

  constructor(layout: Layout) {
    this.#layout = layout;
  }

  /** Takes a dispatch, and returns the lines that it completes. */
  add(outcome: Outcome): string[] {
    const { family, payload } = outcome.event;
    const [verdict, ...rest] = explain(outcome);
    const one = watched(outcome);
    const kind = [family, 'kind' in payload ? payload.kind : '', one?.key].join(' ');
    const isOneMore = kind === this.#kind && (rest.length === 0 || one !== undefined);
    const lines = isOneMore ? [] : this.flush();
    this.#kind = kind;
    this.#count++;
    this.#head =
      outcome.status === 'passed' ? `${family} ${fields(payload)}` : (verdict?.words ?? '');
    if (one !== undefined)
      this.#watched = this.#watched === undefined ? one : oneMore(this.#watched, one);
    if (rest.length === 0 || one !== undefined) return lines;
    return [...lines, ...this.flush(), ...this.#below(rest)];
  }

  /** Returns the lines that were kept back because more dispatches of their kind might come. */
  flush(): string[] {
    const count = this.#count;
    const one = this.#watched;
    this.#count = 0;
    this.#watched = undefined;
    if (count === 0) return [];
    const times = count === 1 ? '' : `×${count} `;
    const head = cut(this.#head.replace(' ', ` ${times}`), this.#layout.width);
    return [head, ...this.#below(one === undefined ? [] : explain(one.record).slice(1))];
  }

  #below(lines: readonly ExplainLine[]): string[] {
    const { palette, width } = this.#layout;
    return lines.flatMap(({ words }) => laidOut(words, 4, palette.quiet, width));
  }
}

function fields(payload: object): string {
  const parts = Object.entries(payload)
    .filter(
      ([name, value]) => !runFields.has(name) && !(Array.isArray(value) && value.length === 0),
    )
    .map(([name, value]) => `${name}=${jsonLine(value)}`);
  return printable(parts.join(' '));
}
