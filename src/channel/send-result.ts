import type { DeliveryReceipt } from './message.js';

/** The result of a send. A send that throws counts as `ambiguous`, and is not repeated. */
export type SendResult =
  | { readonly status: 'sent'; readonly receipt: DeliveryReceipt }
  /** The provider refused it for good. It was not delivered. */
  | { readonly status: 'rejected'; readonly reason: string }
  /** The provider refused it for now. It was not delivered. */
  | { readonly status: 'retry-after'; readonly retryAfterMs: number; readonly reason?: string }
  /** Nobody knows whether it was delivered: a timeout, a lost connection. */
  | { readonly status: 'ambiguous'; readonly reason: string };
