import type { Envelope, idFields, Metadata, Ref, refFields } from '../../outcome/envelope.js';
import type { Given } from '../../outcome/given.js';

/** Who and where an event is about: what was given, else what came from upstream, else nothing. */
export interface Origin {
  readonly eventId: string | undefined;
  readonly workspaceId: string | null;
  readonly agentId: string | null;
  readonly sessionId: string | null;
  readonly accountRef: Ref | null;
  readonly conversationRef: Ref | null;
  readonly threadRef: Ref | null;
  readonly messageRef: Ref | null;
  readonly sourceContributionId: string | null;
  /** Absent on an event that nothing came before: it correlates with itself. */
  readonly correlationId: string | undefined;
  readonly metadata: Metadata;
  readonly providerMetadata: Metadata;
}

/** What goes on downstream. A copy of it is kept, and never the dispatch before: chains hold nothing. */
export type Upstream = Pick<
  Envelope,
  (typeof idFields)[number] | (typeof refFields)[number] | 'correlationId'
>;

const empty: Metadata = Object.freeze({});

/** The origin of an event that is given nothing, and that nothing came before. */
export const noOrigin: Origin = Object.freeze({
  eventId: undefined,
  workspaceId: null,
  agentId: null,
  sessionId: null,
  accountRef: null,
  conversationRef: null,
  threadRef: null,
  messageRef: null,
  sourceContributionId: null,
  correlationId: undefined,
  metadata: empty,
  providerMetadata: empty,
});

/** Takes from what a dispatch is given, and from upstream, what its event says of where it comes from (spec §1.8). */
export function originOf(
  given: Given | undefined,
  upstream: Upstream | undefined,
  sourceContributionId: string | null,
): Origin {
  if (given === undefined && upstream === undefined) return noOrigin;
  return {
    eventId: given?.eventId,
    workspaceId: own(given?.workspaceId, upstream?.workspaceId),
    agentId: own(given?.agentId, upstream?.agentId),
    sessionId: own(given?.sessionId, upstream?.sessionId),
    accountRef: own(given?.accountRef, upstream?.accountRef),
    conversationRef: own(given?.conversationRef, upstream?.conversationRef),
    threadRef: own(given?.threadRef, upstream?.threadRef),
    messageRef: own(given?.messageRef, upstream?.messageRef),
    sourceContributionId: given?.sourceContributionId ?? sourceContributionId,
    correlationId: given?.correlationId ?? upstream?.correlationId,
    metadata: given?.metadata ?? empty,
    providerMetadata: given?.providerMetadata ?? empty,
  };
}

/** An own value beats an inherited one; an explicit `null` clears it. */
function own<T>(given: T | null | undefined, inherited: T | null | undefined): T | null {
  return given === undefined ? (inherited ?? null) : given;
}
