import {
  type Cancelled,
  type CancelRecord,
  explain as explained,
  type Failed,
  type FailureKind,
  type FamilyName,
  nameOf,
  type Outcome,
  type Passed,
} from 'sluice-kernel/internal';

/**
 * Explains the result of a dispatch and the work of each handler, as lines of text.
 *
 * @example
 * console.log(explain(outcome));
 */
export function explain<F extends FamilyName>(outcome: Outcome<F>): string {
  const lines = explained(outcome as Outcome); // a member of one family, read as of any
  return lines.map(({ depth, words }) => `${'  '.repeat(depth)}${words}`).join('\n');
}

/**
 * Asserts that a dispatch passed.
 *
 * @returns the outcome, as one that passed.
 * @throws Error that explains the outcome. Works with every test runner.
 * @example
 * const { payload } = expectPassed(await test.dispatch('egress.preparing'));
 */
export function expectPassed<F extends FamilyName>(outcome: Outcome<F> | undefined): Passed<F> {
  if (outcome?.status === 'passed') return outcome;
  return unexpected(outcome, 'to pass');
}

/**
 * Asserts that a dispatch was cancelled.
 *
 * @param wanted.by `extension/contribution`, or the extension alone.
 * @returns the outcome, as a cancelled one.
 * @throws Error that explains the outcome.
 * @example
 * expectCancelled(outcome, { code: 'quiet-hours', by: 'quiet-hours/night' });
 */
export function expectCancelled<F extends FamilyName>(
  outcome: Outcome<F> | undefined,
  wanted: { readonly code?: Cancelled<F>['cancel']['code']; readonly by?: string } = {},
): Cancelled<F> {
  const { code, by } = wanted;
  const parts = ['to be cancelled'];
  if (code !== undefined) parts.push(`with "${code}"`);
  if (by !== undefined) parts.push(`by ${by}`);
  if (outcome?.status !== 'cancelled') return unexpected(outcome, parts.join(' '));
  return isCancelOf(outcome.cancel, wanted) ? outcome : unexpected(outcome, parts.join(' '));
}

/**
 * Asserts that a dispatch failed: that something in it failed closed.
 *
 * @param kind the kind of the failure, by default any.
 * @returns the outcome, as a failed one.
 * @throws Error that explains the outcome.
 * @example
 * expectFailed(outcome, 'timed-out');
 */
export function expectFailed<F extends FamilyName>(
  outcome: Outcome<F> | undefined,
  kind?: FailureKind,
): Failed<F> {
  const wanted = kind === undefined ? 'to fail' : `to fail with ${kind}`;
  if (outcome?.status !== 'failed') return unexpected(outcome, wanted);
  const closed = outcome.failures.filter(({ policy }) => policy === 'closed');
  const fits = kind === undefined || closed.some((failure) => failure.kind === kind);
  return fits ? outcome : unexpected(outcome, wanted);
}

function unexpected<F extends FamilyName>(outcome: Outcome<F> | undefined, wanted: string): never {
  if (outcome === undefined) throw new Error(`expected a dispatch ${wanted}, and there was none`);
  throw new Error(
    `expected ${outcome.event.family} ${wanted}, and this is how it went:\n${explain(outcome)}`,
  );
}

/** Returns whether a cancel has the code, and is by the extension or the contribution, that is wanted. */
export function isCancelOf(
  cancel: CancelRecord,
  { code, by }: { readonly code?: string; readonly by?: string },
): boolean {
  const isCode = code === undefined || cancel.code === code;
  return isCode && (by === undefined || [cancel.extensionId, nameOf(cancel)].includes(by));
}
