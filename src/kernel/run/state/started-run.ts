import type { Given } from '../../outcome/given.js';
import type { ApprovalQuestion } from '../../outcome/question.js';
import { contextOf } from '../services/call.js';
import type { Plan } from '../services/plan.js';
import { runOf } from './dispatched.js';
import { inherited, type Nested, ownOrigin } from './origin.js';
import { standingQuestions } from './recheck.js';
import { nothing, Run } from './run.js';
import { termsOf } from './terms.js';
import { upstreamOf } from './unheard.js';

/**
 * Makes the run of a dispatch from what it is given, and from what came before it.
 *
 * @throws SluiceError `bad-payload`, if the stage cannot see whether the payload names its target.
 */
export function startedRun(
  plan: Plan,
  payload: object,
  given: Given | undefined,
  nested: Nested | undefined,
  nowMs: number,
  stampMs: number,
  sequence: number,
): Run {
  const after = given?.after;
  const asked = given?.answered === undefined ? none : askedIn(after, plan);
  const terms = termsOf(plan, payload, given, asked);
  const run = new Run(
    terms.answered?.plan ?? plan,
    payload,
    given === undefined ? nested && { sourceContributionId: nested.by } : ownOrigin(given),
    after === undefined ? nested?.upstream : inherited(given, upstreamOf(after)),
    after?.annotations ?? nothing,
    terms,
    given?.occurredAt ?? nowMs,
    stampMs,
    sequence,
    nested?.depth ?? 0,
  );
  if (terms.answered !== undefined) {
    const isSame = after?.event.family === plan.stage.family;
    run.context = contextOf(run.annotations, isSame ? after.selection : undefined, 'answered');
  }
  return run;
}

const none: readonly ApprovalQuestion[] = Object.freeze([]);

/** The questions that an outcome of the same family has left open. */
function askedIn(after: Given['after'], { stage }: Plan): readonly ApprovalQuestion[] {
  const before = after?.event.family === stage.family ? runOf(after) : undefined;
  return before === undefined ? none : [...standingQuestions(before).values()];
}
