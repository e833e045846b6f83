import type { CallAnswer } from './port.js';

/**
 * The error of an account that could not be started, by the answer of its provider. If the provider could not be reached, failed or has
 * no time, it has `retryAfterMs`: the host starts the account again (spec §14.18). If the provider says no, it is refused for good. Its
 * `code` is a word for logs.
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
  const { status, reason } = answer;
  const [, inside, first] = /\((\w{1,50})\)$|^(?!no )(\w{1,50})/.exec(reason) ?? [];
  const word = inside ?? first ?? 'no-answer';
  const code = /^\d/.test(word) ? `HTTP-${word}` : word;
  if (status === 'refused' && answer.cause !== 'busy')
    return Object.assign(new Error(`${provider} ${refused}: ${reason}`), { code });
  const retryAfterMs = status === 'refused' ? (answer.retryAfterMs ?? 0) : 0;
  const error = new Error(`${provider} cannot be reached: ${reason}`);
  return Object.assign(error, { code, retryAfterMs });
}
