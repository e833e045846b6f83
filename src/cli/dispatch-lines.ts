import { explainOutcome, type Outcome } from '../kernel/index.js';
import { jsonLine } from './json-line.js';
import { type Layout, laidOut } from './layout.js';
import { cut, printable } from './text.js';

/** Payload fields that are the same in every dispatch of a run, or nearly. */
const runFields = new Set([
  'agentId',
  'sessionKey',
  'sessionId',
  'runId',
  'trigger',
  'workspaceDir',
]);

/**
 * Turns dispatches into lines as they come: the family and what it carries, then its handlers and what came of
 * them. Dispatches of one kind that follow one another, such as the deltas of a text, make one line.
 */
export class DispatchLines {
  readonly #layout: Layout;
  #kind = '';
  #head = '';
  #count = 0;

  constructor(layout: Layout) {
    this.#layout = layout;
  }

  /** Takes a dispatch. Returns the lines that are finished by it. */
  add(outcome: Outcome): string[] {
    const { family, payload } = outcome.event;
    const kind = `${family} ${'kind' in payload ? payload.kind : ''}`;
    const [verdict = '', ...rest] = explainOutcome(outcome);
    const lines = kind === this.#kind && rest.length === 0 ? [] : this.flush();
    this.#kind = kind;
    this.#count++;
    this.#head = outcome.status === 'passed' ? `${family} ${fields(payload)}` : verdict;
    if (rest.length === 0) return lines;
    const below = rest.flatMap((line) =>
      laidOut(line.trim(), 4, this.#layout.palette.quiet, this.#layout.width),
    );
    return [...lines, ...this.flush(), ...below];
  }

  /** The line that was kept back because more of its kind might come. */
  flush(): string[] {
    const count = this.#count;
    this.#count = 0;
    if (count === 0) return [];
    const times = count === 1 ? '' : `×${count} `;
    return [cut(this.#head.replace(' ', ` ${times}`), this.#layout.width)];
  }
}

function fields(payload: object): string {
  const parts = Object.entries(payload)
    .filter(([name, value]) => !runFields.has(name) && !isEmptyList(value))
    .map(([name, value]) => `${name}=${jsonLine(value)}`);
  return printable(parts.join(' '));
}

function isEmptyList(value: unknown): boolean {
  return Array.isArray(value) && value.length === 0;
}
