import { StartLater } from '../channel/index.js';
import type { CallAnswer } from './send/port.js';

/**
 * The error of an account that could not be started, by the answer of its provider: it is started again if the provider could not be
 * reached, failed or has no time, and it is refused for good if the provider says no.
 *
 * @param refused says what a refusal means, without the name of the provider.
 * @example
 * if (me.status !== 'done') throw startFailure('Slack', 'does not take the bot token', me);
 */
export function startFailure(
  provider: string,
  refused: string,
  answer: Exclude<CallAnswer<unknown>, { readonly status: 'done' }>,
): Error {
  if (answer.status === 'refused' && answer.cause !== 'busy')
    return new Error(`${provider} ${refused}: ${answer.reason}`);
  const asked = answer.status === 'refused' ? answer.retryAfterMs : undefined;
  return new StartLater(`${provider} cannot be reached: ${answer.reason}`, asked);
}
