import { authorOf, type Entry, ownerOf } from '../../outcome/entry.js';
import type { Failure, FailureKind } from '../../outcome/outcome.js';
import type { FailPolicy } from '../../stage/vocabulary.js';
import { oneLine } from '../../value/one-line.js';
import type { StillRunning } from '../services/services.js';
import { notifyTap } from './notify-tap.js';
import type { Run } from './run.js';
import { stepOf } from './step-of.js';

/** Kinds whose message is a handler's own text, or quotes what it returned: that is a field of its own in the log. */
const quoting: ReadonlySet<FailureKind> = new Set(['threw', 'bad-output', 'aborted']);

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
export function failed(
  run: Run,
  entry: Entry,
  kind: FailureKind,
  thrown: unknown,
  policy: FailPolicy = kind === 'observe-only' ? 'open' : entry.policy,
): boolean {
  const { quarantine } = run.services;
  const isOut = quarantine?.isCause(thrown) === true;
  const failure = failureOf(entry, isOut ? 'quarantined' : kind, thrown, policy);
  record(run, failure);
  quarantine?.failed(entry, failure.kind, failure.message);
  run.steps?.push(
    stepOf(entry, 'failed', {
      why: failure.kind,
      ...(run.rechecking && { recheck: true as const }),
    }),
  );
  run.forget(); // what it has read, it may write from here on
  if (policy === 'open') return false;
  run.status = 'failed';
  return true;
}

/** Records a failure beside a cancel or a question, which stands: nothing was let through. */
export function noted(run: Run, entry: Entry, kind: FailureKind, problem: string): void {
  record(run, failureOf(entry, kind, new Error(problem), 'closed'));
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
  const owner = ownerOf(failure);
  const who = owner === undefined ? '' : ` ${owner}`;
  const { sessionId, eventId } = run.event;
  const what = quoting.has(failure.kind) ? '' : `: ${failure.message}`;
  services.logger.warn(`${run.family}:${who} ${failure.kind}, failed ${failure.policy}${what}`, {
    family: run.family,
    kind: failure.kind,
    policy: failure.policy,
    ...(extensionId !== undefined && { extensionId, contributionId }),
    eventId,
    sessionId,
    error: failure.error,
  });
  notifyTap(services, 'failure', (tap) =>
    tap.failure?.(failure, { family: run.family, eventId: run.event.eventId }),
  );
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
  services.deadlines.waitEnded();
  services.counters.late++;
  notifyTap(services, 'late', (tap) =>
    tap.late?.({
      ...authorOf(entry),
      family: run.family,
      eventId: run.event.eventId,
      settled,
      ...(settled === 'rejected' && { error }),
    }),
  );
}

function record(run: Run, failure: Failure): void {
  (run.cold.failures ??= []).push(Object.freeze(failure));
  report(run, failure);
}
