import type { Outcome } from '../kernel/index.js';
import type { AgentTurnError } from './turn-options.js';

/** Ends a turn from inside it. `runAgentTurn` turns it into its result; nobody else sees it. */
export class TurnFailure extends Error {
  override readonly name = 'TurnFailure';
  readonly code: AgentTurnError['code'];

  constructor(code: AgentTurnError['code'], message: string) {
    super(message);
    this.code = code;
  }
}

/**
 * Goes on only if a stage has passed.
 *
 * @throws TurnFailure `stage-failed`, with the failure that closed the stage.
 */
export function mustPass(outcome: Outcome): void {
  if (outcome.status !== 'passed')
    throw new TurnFailure('stage-failed', `${outcome.event.family} ${whyNot(outcome)}`);
}

/** Why an outcome did not pass, in one line: whose cancel, or which failure. */
export function whyNot(outcome: Outcome): string {
  if (outcome.status === 'cancelled') {
    const { extensionId, contributionId, code, text } = outcome.cancel;
    return `was cancelled by ${extensionId}/${contributionId}: ${code}${text === undefined ? '' : ` (${text})`}`;
  }
  const failure = outcome.failures.findLast(({ policy }) => policy === 'closed');
  if (failure === undefined) return 'failed';
  const whose =
    failure.extensionId === undefined ? '' : ` in ${failure.extensionId}/${failure.contributionId}`;
  return `failed (${failure.kind}${whose}): ${failure.message}`;
}
