import type { Entry } from '../outcome/entry.js';
import { whenSettled } from '../value/thenable.js';
import type { HandlerCall } from './services/call.js';
import { failureOf, report } from './state/failures.js';
import type { Run } from './state/run.js';
import { stepOf } from './state/step-of.js';
import { letGo } from './wait.js';

/** Lets a detached observer go on by itself; its failure is reported to the tap and the log (spec §4.7). */
export function awaitDetached(
  run: Run,
  entry: Entry,
  pending: PromiseLike<unknown>,
  call: HandlerCall,
): void {
  run.steps?.push(stepOf(entry, 'detached'));
  letGo(run, call);
  whenSettled(
    pending,
    () => undefined,
    (reason) => {
      const failure = failureOf(entry, 'threw', reason, 'open');
      report(run, failure);
      run.services.quarantine?.failed(entry, failure.kind, failure.message);
    },
  );
}
