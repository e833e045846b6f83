import { createHmac } from 'node:crypto';
import type { Clock } from 'sluice';
import type { ApprovedMessage, SendResult } from 'sluice/channel';
import type { WebhookConfig } from './config.js';
import { secretOf } from './keys.js';

/** Milliseconds for one call. */
const timeoutMs = 30_000;
const firstWaitMs = 1_000;

/**
 * Posts an answer to the callback of a webhook, signed as Standard Webhooks says. Its `webhook-id` is the same for each attempt:
 * the receiver drops what it has seen.
 */
export async function callBack(
  { url, secret }: NonNullable<WebhookConfig['callback']>,
  { content, kind, conversationId, replyToId }: ApprovedMessage,
  { id, attempt, signal, clock }: CallOptions,
): Promise<SendResult> {
  const body = JSON.stringify({
    ...{ id, text: content, kind, conversation: conversationId, in_reply_to: replyToId },
  });
  const at = Math.floor(clock.now() / 1_000);
  const hmac = createHmac('sha256', secretOf(secret)).update(`${id}.${at}.${body}`);
  const headers = {
    'content-type': 'application/json',
    'webhook-id': id,
    'webhook-timestamp': String(at),
    'webhook-signature': `v1,${hmac.digest('base64')}`,
  };
  const patience = AbortSignal.timeout(timeoutMs);
  const later = { status: 'retry-after', retryAfterMs: firstWaitMs * 2 ** (attempt - 1) } as const;
  try {
    const answer = await fetch(url, {
      ...{ method: 'POST', body, headers, redirect: 'manual' },
      signal: AbortSignal.any([signal, patience]),
    });
    await answer.body?.cancel();
    const { status, ok } = answer;
    if (ok) return { status: 'sent', receipt: { messageId: id } };
    const reason = `the callback answered ${status}`;
    const seconds = Number(answer.headers.get('retry-after') ?? Number.NaN);
    if (status === 429 || status === 503)
      return { ...later, reason, ...(seconds >= 0 && { retryAfterMs: seconds * 1_000 }) };
    return { status: status >= 500 ? 'ambiguous' : 'rejected', reason };
  } catch (error) {
    const { code } = Object((error as Error).cause) as { readonly code?: string }; // fetch rejects with an Error
    if (code === 'ECONNREFUSED')
      return { ...later, reason: `the callback cannot be reached: ${code}` };
    return { status: 'ambiguous', reason: `the callback did not answer: ${code ?? String(error)}` };
  }
}

/** The circumstances of one call. */
interface CallOptions {
  readonly id: string;
  readonly attempt: number;
  readonly signal: AbortSignal;
  readonly clock: Clock;
}
