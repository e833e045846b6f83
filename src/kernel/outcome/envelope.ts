import type { FamilyName, PayloadOf } from './families.js';
import type { Principal } from './principal.js';

/** Something a provider named: the id is as that provider writes it, unique within the channel. */
export interface Ref {
  readonly channel: string;
  readonly id: string;
}

/** Plain data that travels with an event and that no stage interprets. */
export type Metadata = Readonly<Record<string, unknown>>;

/**
 * An event as it was emitted: the sixteen fields of the seed, frozen with its payload (spec §1).
 * A value that is not known is `null`, never absent.
 */
export interface Envelope<F extends FamilyName = FamilyName> {
  /** Sorts by time, then by order of dispatch. */
  readonly eventId: string;
  readonly family: F;
  /** Milliseconds since 1970, taken when dispatch was called. */
  readonly occurredAt: number;
  readonly workspaceId: string | null;
  readonly agentId: string | null;
  readonly sessionId: string | null;
  readonly accountRef: Ref | null;
  readonly conversationRef: Ref | null;
  readonly threadRef: Ref | null;
  readonly messageRef: Ref | null;
  /** `extension/contribution` of the handler that dispatched it from inside a stage. */
  readonly sourceContributionId: string | null;
  /** The event that began it all: its own id where nothing came before. */
  readonly correlationId: string;
  /** The payload as it was emitted; no patch ever shows here. */
  readonly payload: PayloadOf<F>;
  readonly metadata: Metadata;
  /** The data that the provider sent beside the payload. */
  readonly providerMetadata: Metadata;
  readonly hotPath: boolean;
}

/** The refs that go on downstream, from one dispatch to the next and into nested ones. */
export const refFields = ['accountRef', 'conversationRef', 'threadRef', 'messageRef'] as const;

/** The ids that go on downstream. */
const idFields = ['workspaceId', 'agentId', 'sessionId'] as const;

/** The data that goes on downstream. A chain of dispatches shares one as long as none of them is given anything else. */
export type Upstream = Readonly<
  Pick<Envelope, (typeof idFields)[number] | (typeof refFields)[number] | 'correlationId'>
> & {
  readonly principal: Principal | null;
};
