import type { Kernel } from '../kernel/index.js';

/** How many dispatchers each run of a kernel has now. It belongs to the kernel, which does not know runs. */
const driven = new WeakMap<Kernel, Map<string, number>>();

/**
 * Whether somebody dispatches a run now: an agent turn, or a bridge. Whoever comes second would tell each of its
 * facts twice.
 */
export function isRunDriven(kernel: Kernel, runId: string): boolean {
  return (driven.get(kernel)?.get(runId) ?? 0) > 0;
}

/** Says that a run is dispatched from now on, until what is returned is called. */
export function driveRun(kernel: Kernel, runId: string): () => void {
  const runs = driven.get(kernel) ?? new Map<string, number>();
  driven.set(kernel, runs);
  runs.set(runId, (runs.get(runId) ?? 0) + 1);
  let ended = false;
  return () => {
    if (ended) return;
    ended = true;
    const left = (runs.get(runId) ?? 1) - 1;
    if (left > 0) runs.set(runId, left);
    else runs.delete(runId);
  };
}
