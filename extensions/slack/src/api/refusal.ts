import type { CallAnswer, RefusalCause } from 'sluice/chat';
import { redact } from '../secrets.js';

/** The end of a call that was not done, or of which nobody knows it. */
export type Failure = Exclude<CallAnswer<never>, { readonly status: 'done' }>;

/** Errors after which nobody knows if it was done. */
const unsure = new Set(['fatal_error', 'internal_error', 'request_timeout', 'service_unavailable']);

/** Errors of a token that Slack takes no more. */
const tokenErrors = new Set([
  'account_inactive',
  'invalid_auth',
  'not_allowed_token_type',
  'not_authed',
  'token_expired',
  'token_revoked',
]);

const causes: readonly (readonly [RegExp, RefusalCause])[] = [
  [/^rate_?limited$|^message_limit_exceeded$|^team_added_to_org$/, 'busy'],
  [/^invalid_blocks|^msg_blocks_too_long$/, 'markup'],
  [/^message_not_found$/, 'gone'],
  [/^is_archived$|^not_in_channel$|^channel_not_found$|^restricted_action/, 'forbidden'],
];

/** The next step of an operator, by error. */
const hints: Readonly<Record<string, string>> = {
  not_in_channel: 'invite the bot with /invite',
  is_archived: 'nobody can write to an archived channel',
  channel_not_found: 'the id is wrong, or the bot was not invited',
  missing_scope: 'add the scope to the app, and install it again',
  token_revoked: 'install the app again, and set its new token',
  account_inactive: 'install the app again, and set its new token',
};

/** Reads an answer that says that it was not done. It may not be Slack that answered. */
export function refusalOf(answer: {
  readonly error?: unknown;
  readonly needed?: unknown;
}): Failure {
  const { error, needed } = answer;
  if (typeof error !== 'string' || !/^[a-z_]{1,80}$/.test(error))
    return { status: 'unknown', reason: 'no readable answer' };
  if (unsure.has(error)) return { status: 'unknown', reason: error };
  const isToken = tokenErrors.has(error);
  const hint =
    hints[error] ?? (isToken ? 'set the token that the pages of the app show' : undefined);
  const scope = typeof needed === 'string' ? ` ${redact(needed)}` : '';
  const [, cause] = causes.find(([shape]) => shape.test(error)) ?? [];
  const reason = `${error}${scope}${hint === undefined ? '' : `: ${hint}`}`;
  if (isToken) return { status: 'refused', reason, cause: 'forbidden' };
  return { status: 'refused', reason, ...(cause !== undefined && { cause }) };
}

/** Returns whether Slack will take a token no more. */
export function isTokenRefused(answer: CallAnswer<unknown>): boolean {
  return answer.status === 'refused' && tokenErrors.has(answer.reason.split(':')[0] ?? '');
}
