import type { TrailRefs } from '@sluice/agent';

/** A message that answers nothing, for the host that connects its account. */
export interface SendJob {
  readonly kind: 'send';
  readonly sendId: string;
  readonly channel: string;
  readonly accountId: string;
  /** As `sendOwn` takes it. */
  readonly message: { readonly to: string; readonly threadId?: string | number };
  readonly refs?: TrailRefs;
}
