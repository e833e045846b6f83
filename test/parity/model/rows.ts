import { type LegacyDivergenceName, legacyDivergences } from '../../../src/openclaw/index.js';

/** Which divergences a prediction follows, and which of them made a difference on the way. */
export class Rows {
  readonly #on: ReadonlySet<LegacyDivergenceName>;
  readonly used = new Set<LegacyDivergenceName>();

  constructor(on: Iterable<LegacyDivergenceName>) {
    this.#on = new Set(on);
  }

  /** Whether to go the way of a row, where the two ways part. */
  take(name: LegacyDivergenceName, theyPart: boolean): boolean {
    if (!theyPart || !this.#on.has(name)) return false;
    this.used.add(name);
    return true;
  }
}

/** Every row there is: how the bridge behaves. */
export const everyRow: readonly LegacyDivergenceName[] = legacyDivergences
  .filter(({ profiles }) => profiles.includes('2026.3'))
  .map(({ name }) => name);
