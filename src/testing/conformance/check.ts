import { systemClock, withTimeout } from 'sluice-kernel/internal';

/** One check of a conformance kit. */
export interface ConformanceCheck {
  /** The rule, in a sentence. */
  readonly name: string;
  /**
   * Resolves if the subject keeps the rule, or lacks what the check needs. Rejects with an Error that says how it broke it.
   *
   * @param test the context that a test runner gives, such as Vitest or `node:test`: a check that is left out is marked as skipped there.
   */
  run(test?: unknown): Promise<void>;
  /** After `run`: the reason why it was left out, such as `no failNext`; absent if it was not. */
  readonly skipped?: string;
}

/** Makes the checks of some rules. @param complete a check that is left out is broken. */
export function checksOf<Rule>(
  rules: Readonly<Record<string, Rule>>,
  complete: boolean,
  judge: (rule: Rule) => Promise<void>,
): readonly ConformanceCheck[] {
  return Object.entries(rules).map(([name, rule]) => {
    const check: ConformanceCheck & { skipped?: string } = {
      name,
      run: async (...[test]) => {
        try {
          await judge(rule);
        } catch (error) {
          if (!(error instanceof LeftOut)) throw error;
          if (complete && !error.isForeign) broken(`it was left out: ${error.message}`);
          check.skipped = error.message;
          const { skip }: { readonly skip?: unknown } = Object(test); // of any test runner
          if (typeof skip === 'function') skip.call(test, `left out: ${error.message}`);
        }
      },
    };
    return check;
  });
}

/** Thrown by a check that is left out. */
class LeftOut extends Error {
  /** The subject can never do what the rule is about. */
  readonly isForeign: boolean;

  constructor(message: string, isForeign: boolean) {
    super(message);
    this.isForeign = isForeign;
  }
}

/** Leaves a check out unless its subject shows what it needs. */
export function needs(has: boolean, lacking: string): asserts has {
  if (!has) throw new LeftOut(`no ${lacking}`, false);
}

/** Leaves a check out whose rule is not about such a subject: that is complete, too. */
export function isAbout(holds: boolean, otherwise: string): asserts holds {
  if (!holds) throw new LeftOut(otherwise, true);
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
