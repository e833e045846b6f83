import type { Envelope, Metadata, Upstream } from '../../outcome/envelope.js';
import { begun, inherited, type OwnOrigin, own } from './origin.js';

const empty: Metadata = Object.freeze({});

/** The data that an envelope is made from. */
export interface Emission {
  readonly services: {
    readonly ids: (stampMs: number, sequence: number) => string;
    readonly counters: { envelopesMade: number };
  };
  readonly plan: { readonly stage: { readonly family: string; readonly hotPath: boolean } };
  readonly occurredAt: number;
  readonly stampMs: number;
  readonly sequence: number;
  readonly emitted: object;
  readonly given: OwnOrigin | undefined;
  /** The data from the dispatch before; once a dispatch has followed, the data that goes on to it. */
  upstream: Upstream | undefined;
  /** Made when it is first needed, once: a source of ids may count. */
  eventId: string | undefined;
}

/** Makes the frozen envelope of a dispatch (spec §1.1). */
export function envelopeOf(source: Emission): Envelope {
  source.services.counters.envelopesMade++;
  const { given, plan, upstream } = source;
  const eventId = eventIdOf(source);
  const envelope = {
    eventId,
    family: plan.stage.family,
    occurredAt: source.occurredAt,
    workspaceId: own(given?.workspaceId, upstream?.workspaceId),
    agentId: own(given?.agentId, upstream?.agentId),
    sessionId: own(given?.sessionId, upstream?.sessionId),
    accountRef: own(given?.accountRef, upstream?.accountRef),
    conversationRef: own(given?.conversationRef, upstream?.conversationRef),
    threadRef: own(given?.threadRef, upstream?.threadRef),
    messageRef: own(given?.messageRef, upstream?.messageRef),
    sourceContributionId: given?.sourceContributionId ?? null,
    correlationId: given?.correlationId ?? upstream?.correlationId ?? eventId,
    payload: source.emitted,
    metadata: given?.metadata ?? empty,
    providerMetadata: given?.providerMetadata ?? empty,
    hotPath: plan.stage.hotPath,
  };
  return Object.freeze(envelope) as Envelope; // the payload fits its family: the dispatch was typed or parsed
}

/** Makes the data that goes on from a dispatch to the next. It needs the id, and not the envelope. */
export function downstreamOf(source: Emission): Upstream {
  source.upstream =
    source.upstream === undefined
      ? begun(source.given, eventIdOf(source))
      : inherited(source.given, source.upstream);
  return source.upstream;
}

function eventIdOf(source: Emission): string {
  source.eventId ??= source.given?.eventId ?? source.services.ids(source.stampMs, source.sequence);
  return source.eventId;
}
