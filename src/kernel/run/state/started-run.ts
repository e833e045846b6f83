import type { Given } from '../../outcome/given.js';
import type { Plan } from '../services/plan.js';
import type { Services } from '../services/services.js';
import { inherited, type Nested, ownOrigin } from './origin.js';
import { nothing, Run, termsOf } from './run.js';
import { upstreamOf } from './unheard.js';

/**
 * Makes the run of a dispatch from what it is given, and from what came before it.
 *
 * @throws SluiceError `bad-payload`, if the stage cannot see whether the payload names its target.
 */
export function startedRun(
  services: Services,
  plan: Plan,
  payload: object,
  given: Given | undefined,
  nested: Nested | undefined,
  nowMs: number,
  stampMs: number,
  sequence: number,
): Run {
  const after = given?.after;
  return new Run(
    services,
    plan,
    payload,
    given === undefined ? nested && { sourceContributionId: nested.by } : ownOrigin(given),
    after === undefined ? nested?.upstream : inherited(given, upstreamOf(after)),
    after?.annotations ?? nothing,
    termsOf(plan, payload, given),
    given?.occurredAt ?? nowMs,
    stampMs,
    sequence,
    nested?.depth ?? 0,
  );
}
