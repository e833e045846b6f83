import { kernelError } from '../../errors.js';
import type { Entry } from '../../outcome/entry.js';
import type { Given } from '../../outcome/given.js';
import type { ApprovalQuestion } from '../../outcome/question.js';
import type { StopSignal } from '../../stage/waits.js';
import type { Plan } from '../services/plan.js';
import { type Answered, answeredTerms } from './answered.js';

/** How a dispatch runs, as it was given. Most dispatches share one. */
export interface Terms {
  /** The host's predicate over candidates. */
  readonly valid: Given['valid'] | undefined;
  /** Aborts the dispatch from outside. */
  readonly signal: StopSignal | undefined;
  readonly observeOnly: boolean;
  /** The payload names its target: the resolvers of `passedOver` are not called. */
  readonly settled: boolean;
  readonly passedOver: readonly Entry[];
  /** It is an answered pass. */
  readonly answered: Answered | undefined;
}

const none: readonly Entry[] = Object.freeze([]);

/** How a dispatch runs that is given nothing. */
export const usualTerms: Terms = Object.freeze({
  valid: undefined,
  signal: undefined,
  observeOnly: false,
  settled: false,
  passedOver: none,
  answered: undefined,
});

/**
 * How a dispatch runs.
 *
 * @param asked the questions that the dispatch before it has left open.
 * @throws SluiceError `bad-payload`, if the stage cannot see whether the payload names its target.
 */
export function termsOf(
  plan: Plan,
  payload: object,
  given: Given | undefined,
  asked: readonly ApprovalQuestion[],
): Terms {
  const settled = plan.stage.settled !== undefined && isSettled(plan, payload);
  if (
    given?.valid === undefined &&
    given?.signal === undefined &&
    given?.gate === undefined &&
    given?.answered === undefined &&
    !settled
  )
    return usualTerms;
  return {
    valid: given?.valid,
    signal: given?.signal,
    observeOnly: given?.gate === 'observe-only',
    settled,
    passedOver: settled && given?.answered === undefined ? plan.entries : none,
    answered: given?.answered && answeredTerms(plan, given.answered, asked),
  };
}

/** Returns whether a payload names its target, by the row's own predicate. */
function isSettled({ stage }: Plan, payload: object): boolean {
  try {
    return stage.settled?.(payload as never) === true; // of its own family
  } catch (thrown) {
    const problem = 'it does not even let the stage see whether it names its target';
    const details = { family: stage.family, path: '/', problem };
    throw kernelError('bad-payload', details, { cause: thrown });
  }
}
