import { type Kernel, perKernel } from '../kernel/index.js';
import { HeldKeys } from './held-keys.js';

/** The runs of a kernel that have a dispatcher. The kernel itself does not know runs. */
const drivenRuns = perKernel(() => new HeldKeys());

/**
 * Tells whether a run has a dispatcher now: an agent turn, or a bridge. A second one would tell each fact of the run
 * twice.
 */
export function isRunDriven(kernel: Kernel, runId: string): boolean {
  return drivenRuns(kernel).has(runId);
}

/** Notes that a run is dispatched from now on, until the returned function is called. */
export function driveRun(kernel: Kernel, runId: string): () => void {
  return drivenRuns(kernel).hold(runId);
}
