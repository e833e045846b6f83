import type { AsyncFamily, CancelRecord, Outcome, StopSignal } from 'sluice-kernel/internal';
import type { RunError } from './run-fields.js';

/** Ends a run from inside it. The driver of the run turns it into a `RunError`; nobody else sees it. */
export class RunFailure extends Error {
  override readonly name = 'RunFailure';
  readonly code: RunError['code'];
  readonly cancel: CancelRecord | undefined;

  constructor(code: RunError['code'], message: string, cancel?: CancelRecord) {
    super(message);
    this.code = code;
    this.cancel = cancel;
  }
}

/**
 * The reason of an abort that is no end: the host stops, or has lost the message, and a later run claims it again. Nothing that
 * exists only because of the abort is written down (judgement §4.33).
 */
export class RunSuspended extends Error {
  override readonly name = 'RunSuspended';
}

/** Returns whether a signal has suspended its run. */
export function isSuspended(signal: StopSignal | undefined): boolean {
  return signal?.reason instanceof RunSuspended;
}

/**
 * Goes on only if a stage has passed, as one does that nobody hears.
 *
 * @throws RunFailure `stage-failed`, with the kind of the failure that closed the stage and whose it is, or the cancel.
 */
export function mustPass(outcome: Outcome): void {
  if (outcome.status === 'passed') return;
  const how = outcome.status === 'cancelled' ? whyNot(outcome) : failedBy(outcome);
  const why = `${outcome.event.family} ${how}`;
  const cancel = outcome.status === 'cancelled' ? outcome.cancel : undefined;
  throw new RunFailure('stage-failed', why, cancel);
}

/**
 * Goes on when a stage has passed: at once if nobody hears it.
 *
 * @throws RunFailure as `mustPass` does.
 */
export function whenPassed<F extends AsyncFamily, R>(
  telling: Promise<Outcome<F>> | undefined,
  goOn: (outcome?: Outcome<F>) => R | Promise<R>,
): R | Promise<R> {
  if (telling === undefined) return goOn();
  return telling.then((outcome) => {
    mustPass(outcome);
    return goOn(outcome);
  });
}

/**
 * Why an outcome did not pass, in one line: whose cancel, or which failure.
 *
 * @example
 * if (outcome.status !== 'passed') logger.warn(whyNot(outcome));
 */
export function whyNot(outcome: Outcome): string {
  if (outcome.status === 'cancelled') {
    const { extensionId, contributionId, code, text } = outcome.cancel;
    return `was cancelled by ${extensionId}/${contributionId}: ${code}${text === undefined ? '' : ` (${text})`}`;
  }
  const failure = closing(outcome);
  return failure === undefined ? 'failed' : `${failedBy(outcome)}: ${failure.message}`;
}

/**
 * Why a stage failed, for a model and for extensions: the kind of the failure and whose it is. The words of an error stay away, because they may quote
 * the very text that its handler guards (spec §16.12).
 */
export function failedBy(outcome: Outcome): string {
  const { kind, extensionId, contributionId } = closing(outcome) ?? {};
  if (kind === undefined) return 'failed';
  return `failed (${kind}${extensionId === undefined ? '' : ` in ${extensionId}/${contributionId}`})`;
}

const closing = ({ failures }: Outcome) => failures.findLast(({ policy }) => policy === 'closed');
