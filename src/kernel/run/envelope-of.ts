import { type Envelope, idFields, type Metadata, refFields } from '../envelope.js';
import type { Given } from '../given.js';

/** What an envelope is made from. */
export interface EnvelopeSource {
  readonly services: {
    readonly ids: (stampMs: number, sequence: number) => string;
    readonly counters: { envelopesMade: number };
  };
  readonly plan: { readonly stage: { readonly family: string; readonly hotPath: boolean } };
  readonly given: Given | undefined;
  readonly upstream: Envelope | undefined;
  readonly nestedIn: string | null;
  readonly occurredAt: number;
  readonly stampMs: number;
  readonly sequence: number;
  readonly emitted: object;
}

const empty: Metadata = Object.freeze({});

/**
 * Makes the frozen envelope of a dispatch: what was given, else what came from upstream (the dispatch before, or
 * the one around it), else `null` (spec §1).
 */
export function envelopeOf(source: EnvelopeSource): Envelope {
  source.services.counters.envelopesMade++;
  const { given, plan } = source;
  const from = given?.after?.event ?? source.upstream;
  const eventId = given?.eventId ?? source.services.ids(source.stampMs, source.sequence);
  const ids = pick(given, from, idFields);
  const refs = pick(given, from, refFields);
  const envelope = {
    eventId,
    family: plan.stage.family,
    occurredAt: source.occurredAt,
    workspaceId: ids.workspaceId,
    agentId: ids.agentId,
    sessionId: ids.sessionId,
    accountRef: refs.accountRef,
    conversationRef: refs.conversationRef,
    threadRef: refs.threadRef,
    messageRef: refs.messageRef,
    sourceContributionId: given?.sourceContributionId ?? source.nestedIn,
    correlationId: given?.correlationId ?? from?.correlationId ?? eventId,
    payload: source.emitted,
    metadata: given?.metadata ?? empty,
    providerMetadata: given?.providerMetadata ?? empty,
    hotPath: plan.stage.hotPath,
  };
  return Object.freeze(envelope) as Envelope; // the payload fits its family: the dispatch was typed or parsed
}

function pick<K extends (typeof idFields)[number] | (typeof refFields)[number]>(
  given: Given | undefined,
  from: Envelope | undefined,
  fields: readonly K[],
): { [Field in K]: Envelope[Field] } {
  const picked: Partial<Record<K, unknown>> = {};
  for (const field of fields) {
    const own = given?.[field];
    picked[field] = own === undefined ? (from?.[field] ?? null) : own;
  }
  return picked as { [Field in K]: Envelope[Field] }; // each field was copied from one of the same name
}
