import { explainOutcome, type Outcome } from '../kernel/index.js';
import { type Layout, laidOut } from './layout.js';
import { counted, span } from './text.js';

/**
 * The way that one message takes, as lines: every stage in the order in which it ended. Stages that had nothing to
 * tell stand together; the others show their handlers in run order and what came of them. It keeps lines, not
 * outcomes, so that a long stream of deltas costs nothing. The kernel must trace, or no handler shows.
 */
export class Way {
  readonly #layout: Layout;
  readonly #lines: string[] = [];
  #uneventful: { readonly family: string; count: number }[] = [];
  #dispatches = 0;
  #calls = 0;

  constructor(layout: Layout) {
    this.#layout = layout;
  }

  /** Takes the next dispatch. */
  add(outcome: Outcome): void {
    const { family } = outcome.event;
    this.#dispatches++;
    this.#calls += outcome.steps.filter(({ result }) => result !== 'skipped').length;
    if (isEventful(outcome)) {
      this.#flush();
      this.#lines.push(...stageLines(outcome, this.#layout));
      return;
    }
    const last = this.#uneventful.at(-1);
    if (last?.family === family) last.count++;
    else this.#uneventful.push({ family, count: 1 });
  }

  /** All of it, with a last line that says how it ended and sums up. */
  end(ending: string, tookMs: number): string[] {
    this.#flush();
    const total = [
      ending,
      counted(this.#dispatches, 'dispatch', 'dispatches'),
      counted(this.#calls, 'handler call', 'handler calls'),
      span(tookMs),
    ].join(', ');
    return [...this.#lines, ...this.#quietLines(total)];
  }

  #flush(): void {
    const names = this.#uneventful.map(({ family, count }) =>
      count === 1 ? family : `${family} ×${count}`,
    );
    this.#uneventful = [];
    this.#lines.push(...this.#quietLines(names.join(' · ')));
  }

  #quietLines(text: string): string[] {
    return laidOut(text, 2, this.#layout.palette.quiet, this.#layout.width);
  }
}

/** One dispatch as lines: what came of it, then each handler, change, choice and failure. */
export function stageLines(outcome: Outcome, { palette, width }: Layout): string[] {
  const [verdict = '', ...rest] = explainOutcome(outcome);
  return [
    ...laidOut(verdict, 2, verdictPaint(outcome, palette), width),
    ...rest.flatMap((line) => laidOut(line.trim(), 4, palette.plain, width)),
  ];
}

/** Whether there is more to tell of a dispatch than that it took place. */
export function isEventful(outcome: Outcome): boolean {
  return (
    outcome.status !== 'passed' ||
    outcome.steps.length > 0 ||
    outcome.skipped.length > 0 ||
    outcome.failures.length > 0
  );
}

function verdictPaint(outcome: Outcome, palette: Layout['palette']): (text: string) => string {
  if (outcome.failures.length > 0) return palette.failure;
  return outcome.status === 'cancelled' ? palette.warning : palette.strong;
}
