import type { Envelope } from '../../outcome/envelope.js';
import type { Origin } from './origin.js';

/** What an envelope is made from. */
interface EnvelopeSource {
  readonly services: {
    readonly ids: (stampMs: number, sequence: number) => string;
    readonly counters: { envelopesMade: number };
  };
  readonly plan: { readonly stage: { readonly family: string; readonly hotPath: boolean } };
  readonly origin: Origin;
  readonly occurredAt: number;
  readonly stampMs: number;
  readonly sequence: number;
  readonly emitted: object;
}

/** Makes the frozen envelope of a dispatch (spec §1.1). */
export function envelopeOf(source: EnvelopeSource): Envelope {
  source.services.counters.envelopesMade++;
  const { origin, plan } = source;
  const eventId = origin.eventId ?? source.services.ids(source.stampMs, source.sequence);
  const envelope = {
    eventId,
    family: plan.stage.family,
    occurredAt: source.occurredAt,
    workspaceId: origin.workspaceId,
    agentId: origin.agentId,
    sessionId: origin.sessionId,
    accountRef: origin.accountRef,
    conversationRef: origin.conversationRef,
    threadRef: origin.threadRef,
    messageRef: origin.messageRef,
    sourceContributionId: origin.sourceContributionId,
    correlationId: origin.correlationId ?? eventId,
    payload: source.emitted,
    metadata: origin.metadata,
    providerMetadata: origin.providerMetadata,
    hotPath: plan.stage.hotPath,
  };
  return Object.freeze(envelope) as Envelope; // the payload fits its family: the dispatch was typed or parsed
}
