import { distance } from 'fastest-levenshtein';

/** A mistake in a policy file, and where it stands. */
export interface Problem {
  readonly file: string;
  /** From 1 up. */
  readonly line: number;
  readonly rule?: string;
  readonly text: string;
}

/**
 * Policies that cannot be loaded. No rule of the files counts then.
 *
 * @example
 * try { await readPolicies(['./policies.yaml']); }
 * catch (error) { if (error instanceof PolicyError) console.error(error.problems); }
 */
export class PolicyError extends Error {
  override readonly name = 'PolicyError';
  readonly problems: readonly Problem[];

  constructor(problems: readonly Problem[]) {
    super(problems.map(problemText).join('\n'));
    this.problems = problems;
  }
}

/** A problem in one line: `policies.yaml:12: no-rm-rf: unknown variable "parms"`. */
export function problemText({ file, line, rule, text }: Problem): string {
  return `${file}:${line}: ${rule === undefined ? '' : `${rule}: `}${text}`;
}

/** A hint at the name that was meant, if one is near. */
export function didYouMean(name: string, names: Iterable<string>): string {
  let best: string | undefined;
  let least = Math.max(2, Math.floor(name.length / 3)) + 1;
  for (const one of names) {
    const far = distance(name, one);
    if (far < least) [best, least] = [one, far];
  }
  return best === undefined ? '' : `; did you mean "${best}"?`;
}
