import { addUsage } from '@sluice/agent/run';
import type { AgentEnd, SessionUsage } from '@sluice/sdk/stream';
import { type CsdkFrame, isFields, textField } from '../frames/frame.js';
import { failureCode, isErrorResult, isInterruptedResult, toldErrors } from '../frames/result.js';
import { sessionUsage } from '../frames/usage.js';

/** The end of a run. */
export type RunEnd = Pick<AgentEnd, 'error' | 'aborted'>;

/**
 * Reads the end of a turn from its result. An interrupted turn is reported as an error too; its terminal reason tells
 * (csdk §6.2, §6.6).
 *
 * @param lastError what the last message said went wrong, for a result that does not say.
 */
export function endOfResult(result: CsdkFrame, lastError: string | undefined): RunEnd {
  if (isInterruptedResult(result)) return { aborted: true };
  if (!isErrorResult(result)) return {};
  const subtype = failureCode(result);
  return { error: { subtype, message: messageOf(result) ?? lastError ?? subtype } };
}

/** The tokens of a result's turn, and the money of everything so far. */
export function usageOfResult(result: CsdkFrame): SessionUsage | undefined {
  const { usage } = result;
  return isFields(usage) ? sessionUsage(usage, result.total_cost_usd) : undefined;
}

/** The usage of several turns: tokens add up, money was added up already. */
export function usageSoFar(
  before: SessionUsage | undefined,
  own: SessionUsage | undefined,
): SessionUsage | undefined {
  const sum = addUsage([before, own]);
  const costUsd = own?.costUsd ?? before?.costUsd;
  return sum === undefined || costUsd === undefined ? sum : { ...sum, costUsd };
}

/** The first error that is meant for people, else the result's text. */
function messageOf(result: CsdkFrame): string | undefined {
  const [told] = toldErrors(result);
  if (told !== undefined) return told;
  const text = textField(result, 'result');
  return text === '' ? undefined : text;
}
