import type { Upstream } from '../../outcome/envelope.js';
import type { Given } from '../../outcome/given.js';

/** The part of its options that a dispatch keeps for its event. Never the outcome before: chains hold nothing. */
export type OwnOrigin = Omit<Given, 'after'>;

/** The handler that a dispatch was made from, as `extension/contribution`, how deep, and what goes on from its event. */
export interface Nested {
  readonly upstream: Upstream;
  readonly depth: number;
  readonly by: string;
}

/** Makes the part of its options that a dispatch keeps, if `upstream` has taken up the data that goes on downstream. */
export function ownOrigin(given: Given): OwnOrigin | undefined {
  if (given.after === undefined) return given;
  const { eventId, sourceContributionId, metadata, providerMetadata } = given;
  if (
    eventId === undefined &&
    sourceContributionId === undefined &&
    metadata === undefined &&
    providerMetadata === undefined
  )
    return undefined;
  const own: Mutable<OwnOrigin> = {};
  if (eventId !== undefined) own.eventId = eventId;
  if (sourceContributionId !== undefined) own.sourceContributionId = sourceContributionId;
  if (metadata !== undefined) own.metadata = metadata;
  if (providerMetadata !== undefined) own.providerMetadata = providerMetadata;
  return own;
}

type Mutable<T> = { -readonly [Key in keyof T]: T[Key] };

/** Finds the data that goes on downstream of a dispatch: the same object if it is given nothing else (spec §1.8). */
export function inherited(given: Given | undefined, upstream: Upstream): Upstream {
  if (given === undefined || addsNothing(given, upstream)) return upstream;
  return goesOn(given, upstream, given.correlationId ?? upstream.correlationId);
}

/** Makes the data that goes on downstream of a dispatch that follows none. */
export function begun(given: Given | undefined, eventId: string): Upstream {
  return goesOn(given, undefined, given?.correlationId ?? eventId);
}

function goesOn(
  given: OwnOrigin | undefined,
  upstream: Upstream | undefined,
  correlationId: string,
): Upstream {
  return {
    workspaceId: own(given?.workspaceId, upstream?.workspaceId),
    agentId: own(given?.agentId, upstream?.agentId),
    sessionId: own(given?.sessionId, upstream?.sessionId),
    accountRef: own(given?.accountRef, upstream?.accountRef),
    conversationRef: own(given?.conversationRef, upstream?.conversationRef),
    threadRef: own(given?.threadRef, upstream?.threadRef),
    messageRef: own(given?.messageRef, upstream?.messageRef),
    principal: own(given?.principal, upstream?.principal),
    correlationId,
  };
}

function addsNothing(given: Given, upstream: Upstream): boolean {
  return (
    isSame(given.workspaceId, upstream.workspaceId) &&
    isSame(given.agentId, upstream.agentId) &&
    isSame(given.sessionId, upstream.sessionId) &&
    isSame(given.accountRef, upstream.accountRef) &&
    isSame(given.conversationRef, upstream.conversationRef) &&
    isSame(given.threadRef, upstream.threadRef) &&
    isSame(given.messageRef, upstream.messageRef) &&
    isSame(given.principal, upstream.principal) &&
    isSame(given.correlationId, upstream.correlationId)
  );
}

function isSame<T>(given: T | undefined, upstream: T): boolean {
  return given === undefined || given === upstream;
}

/** An own value beats an inherited one; an explicit `null` clears it. */
export function own<T>(given: T | null | undefined, inherited: T | null | undefined): T | null {
  return given === undefined ? (inherited ?? null) : given;
}
