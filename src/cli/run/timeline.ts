import type { UpdateEntry } from '@sluice/host';
import { type Clock, explain, type Outcome, type OutcomeRecord } from 'sluice-kernel';
import { type Layout, laidOut } from '../print/layout.js';
import { oneMore, type Watched, watched } from '../print/watched.js';
import { counted, printable, span } from '../shell/text.js';

/**
 * The timeline of one message, as lines: every stage in the order in which it ended. Stages without news share a line;
 * the others show their handlers in run order with their results. Stages of one kind that handlers only watched become one,
 * with the time that each handler took for all of them. It keeps lines and not outcomes, so that a long stream of deltas
 * costs nothing. The kernel must trace, or no handler shows.
 */
export class Timeline {
  readonly #layout: Layout;
  readonly #lines: Line[] = [];
  #uneventful: { readonly family: string; count: number }[] = [];
  #watched: Watched | undefined;
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
    if (!isEventful(outcome) || isWatchedDelta(outcome)) {
      this.#flushWatched();
      const last = this.#uneventful.at(-1);
      if (last?.family === family) last.count++;
      else this.#uneventful.push({ family, count: 1 });
      return;
    }
    this.#flushUneventful();
    const one = watched(outcome);
    if (one !== undefined && one.key === this.#watched?.key) {
      this.#watched = oneMore(this.#watched, one);
      return;
    }
    this.#flushWatched();
    if (one === undefined) this.#lines.push(...linesOf(outcome, this.#layout));
    else this.#watched = one;
  }

  /** Returns all lines, with a last line that names the end and sums up. */
  end(ending: string, tookMs: number): string[] {
    this.#flushWatched();
    this.#flushUneventful();
    const total = [
      ending,
      counted(this.#dispatches, 'dispatch', 'dispatches'),
      counted(this.#calls, 'handler call', 'handler calls'),
      span(tookMs),
    ].join(', ');
    const { palette, width } = this.#layout;
    return [...this.#lines, { text: total, indent: 2, paint: palette.quiet }].flatMap((line) =>
      laidOut(line.text, line.indent, line.paint, width),
    );
  }

  #flushWatched(): void {
    const one = this.#watched;
    this.#watched = undefined;
    if (one !== undefined) this.#lines.push(...linesOf(one.record, this.#layout, one.count));
  }

  #flushUneventful(): void {
    if (this.#uneventful.length === 0) return;
    const names = this.#uneventful.map(({ family, count }) =>
      count === 1 ? family : `${family} ×${count}`,
    );
    this.#uneventful = [];
    this.#lines.push({ text: names.join(' · '), indent: 2, paint: this.#layout.palette.quiet });
  }
}

/** A line before it is laid out, which is done when it is printed, as wide as the terminal is then. */
interface Line {
  readonly text: string;
  readonly indent: number;
  readonly paint: (text: string) => string;
}

function linesOf(outcome: OutcomeRecord, { palette }: Layout, count = 1): Line[] {
  return explain(outcome).map(({ depth, words }) => ({
    text: depth > 0 || count === 1 ? words : words.replace(' ', ` ×${count} `),
    indent: 2 + 2 * depth,
    paint: depth > 0 ? palette.plain : verdictPaint(outcome, palette),
  }));
}

/** Writes one dispatch as lines: its result, then each handler, change, choice and failure. */
export function stageLines(outcome: Outcome, layout: Layout): string[] {
  return linesOf(outcome, layout).flatMap(({ text, indent, paint }) =>
    laidOut(text, indent, paint, layout.width),
  );
}

/** Returns whether a dispatch has news beside the fact that it took place. */
function isEventful(outcome: Outcome): boolean {
  return (
    outcome.status !== 'passed' ||
    outcome.steps.length > 0 ||
    outcome.skipped.length > 0 ||
    outcome.failures.length > 0
  );
}

/** Returns whether a dispatch of a hot path, such as a delta of a text, was only watched: there are many, and none has news. */
function isWatchedDelta(outcome: Outcome): boolean {
  const { hotPath } = outcome.event;
  const isSeen = ({ class: one }: Outcome['steps'][number]): boolean => one === 'observer';
  return hotPath && watched(outcome) !== undefined && outcome.steps.every(isSeen);
}

function verdictPaint(
  outcome: OutcomeRecord,
  palette: Layout['palette'],
): (text: string) => string {
  if (outcome.failures.length > 0) return palette.failure;
  return outcome.status === 'cancelled' ? palette.warning : palette.strong;
}

/**
 * Sorts dispatches by the message that they belong to, and prints the timeline of each message when it has ended. A dispatch of no
 * message (start, drain, accounts) is printed at once, if a handler had a part in it.
 */
export function timelinePrinter(
  print: (lines: readonly string[]) => void,
  layout: Layout,
  clock: Pick<Clock, 'monotonicMs'>,
) {
  const timelines = new Map<string, { readonly timeline: Timeline; beganMs: number }>();
  return { add, end };

  /** Takes a dispatch. */
  function add(outcome: Outcome): void {
    const { correlationId, family } = outcome.event;
    let open = timelines.get(correlationId);
    if (open === undefined && family.startsWith('ingress.')) {
      open = { timeline: new Timeline(layout), beganMs: clock.monotonicMs() };
      timelines.set(correlationId, open);
    }
    if (open !== undefined) {
      if (family === 'ingress.normalized') open.beganMs = clock.monotonicMs(); // it waited in its lane till now
      open.timeline.add(outcome);
    } else if (isEventful(outcome)) print(stageLines(outcome, layout));
  }

  /** Prints the timeline of a message that has ended. */
  function end({ correlationId, outcome = 'aborted', reason }: UpdateEntry): void {
    const open = timelines.get(correlationId);
    if (open === undefined) return;
    timelines.delete(correlationId);
    const ending = reason === undefined ? outcome : `${outcome} (${printable(reason)})`;
    print(open.timeline.end(ending, clock.monotonicMs() - open.beganMs));
  }
}
