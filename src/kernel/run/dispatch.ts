import { isOf } from '../outcome/entry.js';
import type { Outcome } from '../outcome/outcome.js';
import { freezePlain } from '../value/freeze.js';
import { runParallel } from './parallel.js';
import { cancelIfAsked } from './questions.js';
import { runSequential } from './sequential.js';
import { waitingFor } from './sequential-wait.js';
import type { Plan } from './services/plan.js';
import { Dispatched } from './state/dispatched.js';
import { stageFailed } from './state/failures.js';
import { notifyTap } from './state/notify-tap.js';
import { recheckPlan } from './state/recheck.js';
import type { Run } from './state/run.js';
import { stepOf } from './state/step-of.js';
import { stopAborted, stopSpent } from './stop.js';
import { runSync } from './sync.js';

/**
 * Takes a run through its plan, lets vetoes judge again what changed, and ends it.
 *
 * @returns the outcome, or nothing while it waits; `run.resolve` gets it then.
 */
export function begin(run: Run): Outcome | undefined {
  run.services.inFlight.add();
  proceed(run, run.plan);
  return run.outcome;
}

/** A promise of a run's outcome; of one that is there already where the stage did not wait. */
export function settled(run: Run): Promise<Outcome> {
  const outcome = begin(run);
  if (outcome !== undefined) return Promise.resolve(outcome);
  return new Promise((resolve) => {
    run.resolve = resolve;
  });
}

function proceed(run: Run, plan: Plan): void {
  if (callHandlers(run, plan)) finish(run);
}

/** Goes on when the handlers of a plan have settled. */
function finish(run: Run): void {
  if (run.rechecking || (run.stopped !== undefined && run.stopped !== 'budget-spent')) {
    end(run);
    return;
  }
  const again = recheckPlan(run);
  if (again === undefined) {
    end(run);
    return;
  }
  run.cold.rechecking = true;
  run.cold.rechecked = again.size;
  run.renew(run.annotations, run.selection); // the calls from here on tell the pass
  if (run.stopped === undefined) proceed(run, again);
  else {
    stopSpent(run, again, 0); // §10.2: no time is left to judge again
    end(run);
  }
}

/** One function per execution mode calls handlers; these three are all there are (spec §4). */
function callHandlers(run: Run, plan: Plan): boolean {
  switch (plan.stage.mode) {
    case 'parallel':
      return runParallel(run, plan, finish);
    case 'sequential':
      return runSequential(run, plan, 0, waitFor);
    case 'sync-sequential':
      return runSync(run, plan);
  }
}

const waitFor = waitingFor(finish);

/** Ends a run: a missing selection is a failure where the stage says so; then the outcome stands. */
export function end(run: Run): Outcome {
  const { services, plan } = run;
  if (run.terms.signal?.aborted === true && run.status === 'passed')
    stopAborted(run, run.rechecking ? run.rechecked : run.reached);
  if (plan.stage.selection !== undefined && run.selection === undefined) missingSelection(run);
  if ((run.questions ?? run.earlier) !== undefined && run.status === 'passed') cancelIfAsked(run);
  run.ended = true;
  if (run.wait !== undefined) services.deadlines.remove(run.wait);
  run.wait = undefined;
  services.counters.handlerCalls += run.reached + run.rechecked;
  if (run.status === 'passed') services.counters.passed++;
  else services.counters[run.status]++;
  const outcome = new Dispatched(run) as Outcome; // serves each member of the union, by its status
  run.outcome = outcome;
  if (run.steps !== undefined) noteSkipped(run, outcome);
  freezeLists(run);
  if (services.taps.isWatched) notifyTap(services, 'outcome', (tap) => tap.outcome?.(outcome));
  run.resolve?.(outcome);
  services.inFlight.remove();
  return outcome;
}

/** Freezes the lists of an outcome: no listener can change them for the next. */
function freezeLists(run: Run): void {
  if (run.candidates !== undefined) Object.freeze(run.candidates);
  if (run.failures !== undefined) Object.freeze(run.failures);
  if (run.steps !== undefined) freezePlain(run.steps, []);
}

/** The steps show every handler of the plan, also those that were not called. */
function noteSkipped(run: Run, outcome: Outcome): void {
  const entries = [
    ...run.plan.entries,
    ...run.terms.passedOver,
    ...(run.terms.answered?.passedOver ?? []),
    ...run.plan.otherBand,
    ...run.plan.unmatched,
    ...run.plan.absent,
  ];
  for (const skipped of outcome.skipped) {
    const { why } = skipped;
    const entry = why === 'budget-spent' ? undefined : entries.find((one) => isOf(one, skipped)); // that one is noted as not run
    if (entry !== undefined) run.steps?.push(stepOf(entry, 'skipped', { why }));
  }
}

function missingSelection(run: Run): void {
  const { settled, observeOnly, answered } = run.terms;
  if (run.status !== 'passed' || settled || observeOnly || answered !== undefined) return;
  if (run.stopped !== undefined && run.stopped !== 'budget-spent') return;
  const policy = run.plan.stage.onError.resolver;
  const candidates = run.candidates ?? [];
  const reasons = candidates.map(({ invalid = '' }) => invalid).join('; ');
  if (candidates.length > 0)
    stageFailed(
      run,
      'no-candidate',
      `none of the ${candidates.length} proposed targets is valid: ${reasons}`,
      policy,
    );
  else if (policy === 'closed') stageFailed(run, 'no-candidate', 'no handler proposed a target');
}
