import type { Clock } from 'sluice';
import { ownerIn } from './owner-in.js';
import type { Service } from './service.js';
import type { Thread } from './thread.js';

/** The answer of the service about a thread. `unknown`: it gave none that can be relied on. */
type Verdict =
  | { readonly kind: 'ours' }
  | { readonly kind: 'others'; readonly owner: string | undefined }
  | { readonly kind: 'unknown'; readonly problem: string };

/**
 * Asks the service for a thread, in the name of an agent: the first who asks has it. The status is the verdict, and
 * stands whatever comes after it; the body only says who. Never rejects.
 *
 * @param signal gives up.
 */
export async function askOwner(
  { url, token, timeoutMs }: Service,
  thread: Thread,
  agentId: string,
  { clock, signal }: { readonly clock: Clock; readonly signal: AbortSignal },
): Promise<Verdict> {
  const expiry = new AbortController();
  const timer = clock.setTimeout(() => expiry.abort(), timeoutMs);
  const given = AbortSignal.any([expiry.signal, signal]);
  try {
    const response = await fetch(`${url}/api/v1/ownership/${pathOf(thread)}`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
      },
      body: JSON.stringify({ agent_id: agentId }),
      redirect: 'manual', // another address was not configured, and would be told the token
      signal: given,
    });
    if (response.status === 409) return { kind: 'others', owner: await ownerIn(response, given) };
    void response.body?.cancel().catch(() => undefined); // nobody reads it
    if (response.ok) return { kind: 'ours' };
    return { kind: 'unknown', problem: `it answered with the status ${response.status}` };
  } catch (thrown) {
    if (expiry.signal.aborted)
      return { kind: 'unknown', problem: `it did not answer in ${timeoutMs} ms` };
    return { kind: 'unknown', problem: `it could not be asked (${reasonOf(thrown)})` };
  } finally {
    clock.clearTimeout(timer);
  }
}

/**
 * Conversation and thread as two segments of a path. Slack's are bare, as the service has always known them; those
 * of other channels carry the channel, since two channels may use one id.
 */
function pathOf({ channel, conversationId, threadId }: Thread): string {
  const place = channel === 'slack' ? conversationId : `${channel}:${conversationId}`;
  return [place, threadId].map(segment).join('/');
}

function segment(id: string): string {
  if (/^\.{1,2}$/.test(id)) throw new Error(`a URL cannot hold the id "${id}"`); // it would leave its path
  return encodeURIComponent(id);
}

/** Reads the reason of a failed `fetch` from the cause of its error. */
function reasonOf(thrown: unknown): string {
  if (!(thrown instanceof Error)) return String(thrown);
  const { cause } = thrown;
  if (!(cause instanceof Error)) return thrown.message;
  return 'code' in cause ? String(cause.code) : cause.message;
}
