import { plainShapes } from '../merge/copy.js';
import { Work } from '../merge/work.js';
import type { Entry } from '../outcome/entry.js';
import type { Stage } from '../stage/stage.js';
import { Pending } from './pending.js';
import { SequentialWait } from './sequential-wait.js';
import { buildPlan } from './services/plan.js';
import type { Services } from './services/services.js';
import { Dispatched } from './state/dispatched.js';
import { Cold, nothing, Run } from './state/run.js';
import { usualTerms } from './state/terms.js';
import { Unheard } from './state/unheard.js';

/** Larger than a V8 small integer, like a real timestamp, so that V8 chooses the same field representation. */
const stampMs = 1.5e12;

/**
 * Makes one object of each class that dispatches make. As long as a kernel holds them, a full collection leaves the hidden classes of
 * a kernel that is idle, and V8 keeps the code that it has optimized for them. They hold nothing of a caller.
 */
export function specimensOf(services: Services, [stage]: readonly Stage[]): readonly object[] {
  if (stage === undefined) return [];
  const plan = buildPlan(services, stage, []);
  const given = [plan, nothing, undefined] as const;
  const run = new Run(...given, undefined, nothing, usualTerms, stampMs, stampMs, 1, 0);
  const call = run.newCall();
  const entry = {} as Entry; // nobody reads it
  return [
    run,
    call,
    new Work(nothing, { patch: () => true, shapes: plainShapes }, false, entry),
    new Cold(),
    new Dispatched(run),
    new Unheard(...given, stampMs, 1),
    new Pending(run, plan, proceed),
    new SequentialWait(run, plan, proceed),
  ];
}

function proceed(): void {
  // no specimen goes on
}
