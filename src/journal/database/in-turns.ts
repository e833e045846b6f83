/**
 * Runs work step by step: other work has its turn after each step.
 *
 * @param signal ends it: its reason is thrown within the work, at its next step.
 */
export async function inTurns<T>(steps: Generator<unknown, T>, signal: AbortSignal): Promise<T> {
  for (;;) {
    const step = signal.aborted ? steps.throw(signal.reason) : steps.next();
    if (step.done === true) return step.value;
    await new Promise<void>((resolve) => setImmediate(resolve));
  }
}

/** Runs such work at once. */
export function atOnce<T>(steps: Generator<unknown, T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}
