import type { HandlerSpec } from '../hooks/hook-set.js';
import type { Rows } from './rows.js';

/** A handler in run order, with its place in the load order. */
export interface Placed {
  readonly spec: HandlerSpec;
  readonly index: number;
}

const priorityOf = ({ spec }: Placed): number => spec.priority ?? 0;

/** Highest priority first; ties as they were loaded. A priority that is no number ties with every other. */
export function inOrder(handlers: readonly HandlerSpec[], rows: Rows): Placed[] {
  let placed: Placed[] = handlers.map((spec, index) => ({ spec, index }));
  const finite = placed.filter((one) => Number.isFinite(priorityOf(one)));
  if (rows.take('priority-must-be-finite', finite.length < placed.length)) placed = finite;
  const asLoaded = placed.toSorted((a, b) => priorityOf(b) - priorityOf(a));
  const byName = placed.toSorted(
    (a, b) => priorityOf(b) - priorityOf(a) || byCodeUnit(a.spec, b.spec) || a.index - b.index,
  );
  const theyPart = asLoaded.some((one, at) => one !== byName[at]);
  return rows.take('ties-across-plugins', theyPart) ? byName : asLoaded;
}

function byCodeUnit({ pluginId: a }: HandlerSpec, { pluginId: b }: HandlerSpec): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
