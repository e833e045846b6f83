import { expect } from 'vitest';
import { definedFields } from '../../../src/kernel/internal.js';
import {
  type LegacyDivergence,
  type LegacyDivergenceName,
  type LegacyHookName,
  legacyDivergences,
} from '../../../src/openclaw/index.js';
import { answersOf, divergenceOf } from '../../../src/openclaw/parity/divergence-of.js';
import {
  compareRuns,
  type ParityDifference,
  parityDifferences,
} from '../../../src/openclaw/parity/index.js';
import { predict } from '../model/model.js';
import { everyRow } from '../model/rows.js';
import type { HookSet } from './hook-set.js';
import type { Observation } from './observe.js';

/** The rows that name a hook. */
export function rowsOf(hook: LegacyHookName): string[] {
  const rows: readonly LegacyDivergence[] = legacyDivergences;
  return rows.filter(({ hooks }) => hooks.includes(hook)).map(({ name }) => name);
}

/** How many sets were compared, and in how many of them each row decided something by itself. */
export class Tally {
  sets = 0;
  readonly decisive = new Map<LegacyDivergenceName, number>();

  add(names: Iterable<LegacyDivergenceName>): void {
    this.sets++;
    for (const name of names) this.decisive.set(name, (this.decisive.get(name) ?? 0) + 1);
  }
}

/**
 * Compares what was seen of one set. The model says what the legacy runner does, and, with the rows, what the bridge
 * does: each run must be as it says in full. A set that no row concerns must be the same on both sides.
 */
export async function compareSet(
  set: HookSet,
  real: Observation | undefined,
  ours: Observation,
  tally: Tally,
): Promise<void> {
  const legacy = predict(set);
  const bridged = predict(set, everyRow);
  if (real !== undefined) expect(differences(real, legacy.seen), 'legacy: model').toEqual([]);
  expect(differences(bridged.seen, ours), 'pipeline: model').toEqual([]);
  const rows = [...bridged.used];
  const named = real === undefined ? [] : await namedDifferences(set, real, ours);
  if (rows.length === 0) {
    expect(differences(real ?? legacy.seen, ours), 'a difference without a row').toEqual([]);
    expect(JSON.stringify(ours.ending), 'the order of its keys').toBe(
      JSON.stringify((real ?? legacy.seen).ending),
    );
  }
  // where several rows may explain a difference, the name is a guess: it is a row of this hook
  const ofHook = legacyDivergences.filter(({ hooks }) => hooks.some((hook) => hook === set.hook));
  for (const { path, row } of named)
    if (row !== undefined)
      expect(
        ofHook.map(({ name }) => name),
        path,
      ).toContain(row);
  tally.add(rows.filter((row) => decides(set, row, bridged.seen)));
}

/** The differences, each with the row that `compareParity` names. */
export async function namedDifferences(
  { hook, handlers }: HookSet,
  real: Observation,
  ours: Observation,
): Promise<readonly Pick<ParityDifference, 'path' | 'row'>[]> {
  const registered = handlers.map(({ pluginId, priority }) => ({
    pluginId,
    ...definedFields({ priority }),
  }));
  const answers = await answersOf(real);
  const steps = [
    { hook, handlers: registered, legacy: real, pipeline: ours.inItsWords ?? ours, answers },
  ];
  return compareRuns(real, ours).map(({ path, ...sides }) => ({
    path,
    ...definedFields({ row: divergenceOf({ path, ...sides }, steps) }),
  }));
}

/** Whether the prediction is another one without the row. */
function decides(set: HookSet, row: LegacyDivergenceName, bridged: Observation): boolean {
  const others = everyRow.filter((one) => one !== row);
  return differences(predict(set, others).seen, bridged).length > 0;
}

function differences(legacy: Observation, pipeline: Observation): ParityDifference[] {
  const besides = ({ counts, unhandled }: Observation) => ({ counts, unhandled });
  return [
    ...compareRuns(legacy, pipeline),
    ...parityDifferences(besides(legacy), besides(pipeline)),
  ];
}
