import { systemClock, withTimeout } from 'sluice-kernel/internal';

/** One check of a conformance kit. */
export interface ConformanceCheck {
  /** The rule, in a sentence. */
  readonly name: string;
  /** Resolves if the subject keeps the rule. Rejects with an Error that says how it broke it. */
  run(): Promise<void>;
}

/** Thrown by a check, in words. */
class Broken extends Error {
  override readonly name = 'ConformanceError';
}

/** Ends a check: the rule is broken. */
export function broken(how: string): never {
  throw new Broken(how);
}

/** Ends a check unless a rule holds. */
export function must(holds: boolean, otherwise: string): asserts holds {
  if (!holds) broken(otherwise);
}

/**
 * Waits for a step of the subject, and no longer than `limitMs`.
 *
 * @throws Error that names the step, if it does not settle in time or rejects.
 */
export async function within<T>(step: string, limitMs: number, work: () => Promise<T>): Promise<T> {
  const late = (): never => broken(`${step} did not settle within ${limitMs} ms`);
  try {
    return await withTimeout(work(), limitMs, systemClock, late);
  } catch (error) {
    if (error instanceof Broken) throw error;
    throw new Broken(`${step} threw: ${String(error)}`, { cause: error });
  }
}
