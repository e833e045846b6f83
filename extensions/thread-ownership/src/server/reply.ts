import type { Claim } from './claims.js';

/** The answer of the server: a status, and a body that becomes JSON. */
export interface Reply {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A claim, in the field names of the HTTP contract. */
export function claimBody(claim: Claim): Readonly<Record<string, unknown>> {
  return {
    channel: claim.conversation,
    thread: claim.thread,
    owner: claim.owner,
    claimed_at_ms: claim.claimedAtMs,
    expires_at_ms: claim.expiresAtMs,
  };
}

/** A request that is not answered as it was asked. */
export function refusal(status: number, error: string, headers: Reply['headers'] = {}): Reply {
  return { status, body: { error }, headers };
}
