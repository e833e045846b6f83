import type { SessionUsage } from '@sluice/sdk/stream';

/** The usage of a run's messages, in tokens. A count that is zero is absent. */
export interface UsageTotals {
  readonly input?: number;
  readonly output?: number;
  readonly cacheRead?: number;
  readonly cacheWrite?: number;
  readonly total?: number;
}

/** Adds up what messages used. */
export class UsageSum {
  #isKnown = false;
  readonly #sum = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 };

  add(usage: SessionUsage | undefined): void {
    if (usage === undefined) return;
    const { input, output, cacheRead, cacheWrite, totalTokens } = usage;
    const parts = counted(input) + counted(output) + counted(cacheRead) + counted(cacheWrite);
    const total = counted(totalTokens) || parts;
    if (total === 0) return;
    this.#isKnown = true;
    this.#sum.input += counted(input);
    this.#sum.output += counted(output);
    this.#sum.cacheRead += counted(cacheRead);
    this.#sum.cacheWrite += counted(cacheWrite);
    this.#sum.total += total;
  }

  /** The sum; nothing if no message named its usage. */
  read(): UsageTotals | undefined {
    if (!this.#isKnown) return undefined;
    return Object.fromEntries(Object.entries(this.#sum).filter(([, count]) => count > 0));
  }
}

function counted(count: number | undefined): number {
  return count !== undefined && Number.isFinite(count) && count > 0 ? count : 0;
}
