import { type Divergence, divergences } from './divergences.js';
import { driveOurs, realWords } from './drive-ours.js';
import { driveReal } from './drive-real.js';
import type { RealModule } from './real-module.js';
import type { ReplyProgram, ReplyTrace } from './reply-program.js';

/** Shown often enough to be needed: from then on it is not tried without. */
const enough = 3;

/** How a program went on both sides. */
export interface Comparison {
  /** They did the same without any divergence. */
  readonly isSame: boolean;
  /** The first callback that differs from what the divergences allow; absent where all is as it should be. */
  readonly mismatch?: {
    readonly expected: unknown;
    readonly ours: unknown;
    readonly before: unknown;
  };
}

/** Compares programs, and counts which divergences they need. */
export class Comparer {
  readonly uses = new Map<string, number>(divergences.map(({ name }) => [name, 0]));
  readonly #real: RealModule;
  readonly #words: ReturnType<typeof realWords>;

  constructor(real: RealModule) {
    this.#real = real;
    this.#words = realWords(real);
  }

  async compare(program: ReplyProgram): Promise<Comparison> {
    const ours = await driveOurs(program, this.#words);
    if (isEqual(await driveReal(this.#real, program), ours)) return { isSame: true };
    const rows = divergences.filter((row) => row.appliesTo(program));
    const expected = await this.#expected(program, rows);
    if (!isEqual(expected, ours))
      return { isSame: false, mismatch: firstDifference(expected, ours) };
    for (const row of rows) await this.#count(program, rows, row, ours);
    return { isSame: false };
  }

  /** A divergence is needed where the program goes differently without it. */
  async #count(
    program: ReplyProgram,
    rows: readonly Divergence[],
    row: Divergence,
    ours: ReplyTrace,
  ): Promise<void> {
    const uses = this.uses.get(row.name) ?? 0;
    if (uses >= enough) return;
    const without = await this.#expected(
      program,
      rows.filter((one) => one !== row),
    );
    if (!isEqual(without, ours)) this.uses.set(row.name, uses + 1);
  }

  async #expected(program: ReplyProgram, rows: readonly Divergence[]): Promise<ReplyTrace> {
    let rewritten = program;
    for (const row of rows) rewritten = row.rewrite?.(rewritten) ?? rewritten;
    let trace = await driveReal(this.#real, rewritten);
    for (const row of rows) trace = row.rewriteTrace?.(trace, program) ?? trace;
    return trace;
  }
}

function isEqual(a: ReplyTrace, b: ReplyTrace): boolean {
  return JSON.stringify([a.calls, a.end]) === JSON.stringify([b.calls, b.end]);
}

function firstDifference(
  expected: ReplyTrace,
  ours: ReplyTrace,
): NonNullable<Comparison['mismatch']> {
  const most = Math.max(expected.calls.length, ours.calls.length);
  for (let at = 0; at < most; at++) {
    if (JSON.stringify(expected.calls[at]) === JSON.stringify(ours.calls[at])) continue;
    const near = (trace: ReplyTrace): unknown => trace.calls.slice(at, at + 3);
    return { before: expected.calls[at - 1], expected: near(expected), ours: near(ours) };
  }
  return { before: 'every callback is the same', expected: expected.end, ours: ours.end };
}
