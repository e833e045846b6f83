import type { Failure, FailureKind } from '../outcome.js';
import type { FailPolicy } from '../vocabulary.js';
import { authorOf, type Entry, nameOf } from './entry.js';
import type { Run } from './run.js';
import type { StillRunning } from './services.js';

const maxTextLength = 300;

/** One line of bounded length for anything that was thrown, also where it does not want to be read. */
export function oneLine(thrown: unknown): string {
  const line = read(thrown)
    .slice(0, maxTextLength * 4)
    .replace(/[\s\p{Cc}]+/gu, ' ')
    .trim();
  return line.length > maxTextLength ? `${line.slice(0, maxTextLength - 1)}…` : line;
}

function read(thrown: unknown): string {
  try {
    if (!(thrown instanceof Error)) return String(thrown);
    const { name, message } = thrown;
    return name === 'Error' ? `${message}` : `${name}: ${message}`;
  } catch {
    return 'something that cannot be read';
  }
}

function isError(thrown: unknown): thrown is Error {
  try {
    return thrown instanceof Error;
  } catch {
    return false; // a revoked proxy answers no question
  }
}

/**
 * Records a handler's failure: in the outcome, the counters, the log and the tap.
 *
 * @returns whether it ends the stage.
 */
export function failed(run: Run, entry: Entry, kind: FailureKind, thrown: unknown): boolean {
  const policy: FailPolicy = kind === 'observe-only' ? 'open' : entry.policy;
  record(run, failureOf(entry, kind, thrown, policy));
  run.steps?.push({
    ...authorOf(entry),
    class: entry.class,
    result: 'failed',
    why: kind,
    ...(run.rechecking && { recheck: true }),
  });
  if (policy === 'open') return false;
  run.status = 'failed';
  return true;
}

/** Records a failure beside what the handler did, which stands. */
export function noted(run: Run, entry: Entry, kind: FailureKind, problem: string): void {
  record(run, failureOf(entry, kind, new Error(problem), 'open'));
}

/** Records a failure of the stage itself, which always ends it, unless the policy is open. */
export function stageFailed(
  run: Run,
  kind: FailureKind,
  problem: string,
  policy: FailPolicy = 'closed',
): void {
  const error = new Error(problem);
  record(run, { kind, error, message: oneLine(problem), policy });
  if (policy === 'closed') run.status = 'failed';
}

/** A failure of a handler, as the outcome and the tap show it. */
export function failureOf(
  entry: Entry,
  kind: FailureKind,
  thrown: unknown,
  policy: FailPolicy,
): Failure {
  const message = oneLine(thrown);
  const error = isError(thrown) ? thrown : new Error(message, { cause: thrown });
  return { ...authorOf(entry), kind, error, message, policy };
}

/** Reports a failure where the outcome cannot show it any more: of a detached observer. */
export function report(run: Run, failure: Failure): void {
  const { services } = run;
  if (failure.policy === 'open') services.counters.failedOpen++;
  else services.counters.failedClosed++;
  const { extensionId, contributionId } = failure;
  const who =
    extensionId === undefined || contributionId === undefined
      ? ''
      : ` ${nameOf({ extensionId, contributionId })}`;
  services.logger.warn(
    `${run.family}:${who} ${failure.kind}, failed ${failure.policy}: ${failure.message}`,
    { family: run.family, kind: failure.kind, policy: failure.policy },
  );
  if (services.tap?.failure === undefined) return;
  try {
    services.tap.failure(failure, { family: run.family, eventId: run.event.eventId });
  } catch (thrown) {
    services.logger.error(`tap.failure threw: ${oneLine(thrown)}`);
  }
}

/** Takes note of a result that came too late. Its value is never used. */
export function late(
  run: Run,
  entry: Entry,
  running: StillRunning | undefined,
  settled: 'fulfilled' | 'rejected',
  error?: unknown,
): void {
  const { services } = run;
  if (running !== undefined) services.stillRunning.delete(running);
  services.counters.late++;
  if (services.tap?.late === undefined) return;
  try {
    services.tap.late({
      ...authorOf(entry),
      family: run.family,
      eventId: run.event.eventId,
      settled,
      ...(settled === 'rejected' && { error }),
    });
  } catch (thrown) {
    services.logger.error(`tap.late threw: ${oneLine(thrown)}`);
  }
}

function record(run: Run, failure: Failure): void {
  (run.failures ??= []).push(Object.freeze(failure));
  report(run, failure);
}
