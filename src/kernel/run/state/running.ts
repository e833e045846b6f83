import { authorOf } from '../../outcome/entry.js';
import type { Author } from '../../outcome/outcome.js';
import { definedFields } from '../../value/defined-fields.js';
import type { Services } from '../services/services.js';
import type { RunWait } from './run.js';

/** A handler that was called and has not settled. */
export interface RunningHandler extends Author {
  readonly family: string;
  /** The event that it all began with; absent if nothing came before, and for one that was given up. */
  readonly correlationId?: string;
  /** Milliseconds since it was called; since it was given up, if it was. */
  readonly runningMs: number;
  /** Its time was up, or its dispatch was aborted: nobody waits for it any more. */
  readonly isGivenUp: boolean;
}

/** How a close went. */
export interface CloseReport {
  /** Every dispatch had ended in time. */
  readonly drained: boolean;
  /** Families of the dispatches that were aborted instead. */
  readonly abandoned: readonly string[];
}

/**
 * The handlers that have not settled. A detached observer is not among them, since nobody waits for it; nor is one that
 * runs in this very call.
 */
export function runningHandlers({ deadlines, stillRunning, clock }: Services): RunningHandler[] {
  const nowMs = clock.monotonicMs();
  const waited = [...deadlines].flatMap((waiting) => {
    const wait = waiting as RunWait; // only runs wait
    const { run, began } = wait;
    const correlationId =
      run.given?.correlationId ?? run.upstream?.correlationId ?? run.given?.eventId;
    const entries = began === undefined ? [] : wait.waitsFor();
    return entries.map((entry) => ({
      ...authorOf(entry),
      family: run.family,
      ...definedFields({ correlationId }),
      runningMs: nowMs - (began?.ms ?? nowMs),
      isGivenUp: false,
    }));
  });
  const givenUp = [...stillRunning].map(({ sinceMs, ...about }) => ({
    ...about,
    runningMs: nowMs - sinceMs,
    isGivenUp: true,
  }));
  return [...waited, ...givenUp];
}

/** Aborts every dispatch that waits. Returns the families of all that were open. */
function abortRunning({ deadlines }: Services): string[] {
  return [...deadlines].map((waiting) => {
    const wait = waiting as RunWait; // only runs wait
    if (wait.began !== undefined) wait.abort();
    return wait.run.family;
  });
}

/** Waits for the dispatches in flight, and aborts those that are open when the time is up. */
export async function drainWithin(services: Services, timeoutMs: number): Promise<CloseReport> {
  const { clock, inFlight } = services;
  const abandoned: string[] = [];
  await new Promise<void>((resolve) => {
    const timer = clock.setTimeout(() => {
      abandoned.push(...abortRunning(services));
      resolve();
    }, timeoutMs);
    inFlight.whenIdle(() => {
      clock.clearTimeout(timer);
      resolve();
    });
  });
  return { drained: abandoned.length === 0, abandoned };
}

/**
 * Waits until no handler of an extension runs.
 *
 * @returns those that still run when the time is up.
 */
export async function quietWithin(
  services: Services,
  extensionId: string,
  timeoutMs: number,
): Promise<readonly RunningHandler[]> {
  const { clock, deadlines } = services;
  const own = (): RunningHandler[] =>
    runningHandlers(services).filter((one) => one.extensionId === extensionId);
  if (timeoutMs <= 0 || own().length === 0) return own();
  await new Promise<void>((resolve) => {
    const timer = clock.setTimeout(() => done(), timeoutMs);
    const watch = deadlines.watch(() =>
      queueMicrotask(() => {
        if (own().length === 0) done(); // the wait has ended by now
      }),
    );
    const done = (): void => {
      clock.clearTimeout(timer);
      watch[Symbol.dispose]();
      resolve();
    };
  });
  return own();
}
