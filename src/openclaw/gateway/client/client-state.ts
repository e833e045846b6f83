import type { LostReason } from '../protocol/chat-event.js';

/**
 * The state of a client. `idle`: it was not started. `connecting`: until the gateway has let it in. `connected`.
 * `waiting`: the connection was lost, or none came about, and the next attempt is to come. `stopped`: for good.
 */
export type ClientState = 'idle' | 'connecting' | 'connected' | 'waiting' | 'stopped';

/** The bounds of one request. */
export interface RequestOptions {
  /** Milliseconds; the client's `requestTimeoutMs` by default. */
  readonly timeoutMs?: number;
  /** Ends the wait. What the gateway has received, it has. */
  readonly signal?: AbortSignal;
}

/** A change of a client's state. */
export interface ClientStateChange {
  readonly state: ClientState;
  /** Why the connection was lost, or did not come about. Without secrets. */
  readonly problem?: string;
}

/** That every run is lost. */
export interface RunsLost {
  readonly reason: LostReason;
  /** In a sentence. */
  readonly error: string;
}
