import { type Kernel, perKernel } from 'sluice-kernel/internal';

/** Keys that somebody holds, each as long as one of its holders does. */
export class HeldKeys {
  readonly #counts = new Map<string, number>();

  get size(): number {
    return this.#counts.size;
  }

  has(key: string): boolean {
    return this.#counts.has(key);
  }

  /** Holds a key until the returned function is called. Later calls of that function do nothing. */
  hold(key: string): () => void {
    this.#counts.set(key, (this.#counts.get(key) ?? 0) + 1);
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      const left = (this.#counts.get(key) ?? 1) - 1;
      if (left > 0) this.#counts.set(key, left);
      else this.#counts.delete(key);
    };
  }
}

/** The runs of a kernel that have a dispatcher. The kernel itself does not know runs. */
const drivenRuns = perKernel(() => new HeldKeys());

/**
 * Returns whether a run has a dispatcher now: an agent turn, or a bridge. A second one would tell each fact of the run
 * twice.
 */
export function isRunDriven(kernel: Kernel, runId: string): boolean {
  return drivenRuns(kernel).has(runId);
}

/** Notes that a run is dispatched from now on, until the returned function is called. */
export function driveRun(kernel: Kernel, runId: string): () => void {
  return drivenRuns(kernel).hold(runId);
}
