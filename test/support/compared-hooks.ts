import { type LegacyHookName, legacyHookNames } from '../../src/openclaw/index.js';
import { rowsOf } from '../../src/openclaw/profiles/index.js';

/** How a hook of profile 2026.9 is compared with the real runner: it has a method of ours, shares a stage, or nobody calls it. */
export type ComparedBy = 'its method' | 'its stage' | 'nothing';

/** The hooks of profile 2026.9 that are compared in one way (event-pipeline §17.30). */
export function comparedBy(way: ComparedBy): readonly LegacyHookName<'2026.9'>[] {
  return legacyHookNames['2026.9'].filter((hook) => wayOf(hook) === way);
}

/** How a hook of profile 2026.9 is compared. */
export function wayOf(hook: string): ComparedBy {
  const row = rowsOf('2026.9')[hook];
  if (row?.isHosted !== true) return 'its method';
  return row.parts.length > 0 ? 'its stage' : 'nothing';
}
