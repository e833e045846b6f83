import type { Infer } from '../schema/schema.js';
import { named } from '../stage/named.js';
import { annotated } from './pieces/annotations.js';
import { briefly, canonicalStage, watchedStage } from './pieces/canonical-stage.js';
import * as f from './pieces/field.js';
import { attachments, inboundMessageFields } from './pieces/message.js';

const ingressReceivedPayload = f.object({
  channel: f.text('The channel it came by.'),
  accountId: f.optional(f.text("The channel's account that got it.")),
  updateId: f.optional(f.text('The id that the provider gave this update.')),
  receivedAtMs: f.optional(f.amount('When it came in, in milliseconds since 1970.')),
  raw: f.opaque('The update exactly as the channel got it.'),
});
/** The payload of `ingress.received`. */
export interface IngressReceived extends Readonly<Infer<typeof ingressReceivedPayload>> {}

const ingressNormalizedPayload = f.object({
  ...inboundMessageFields,
  raw: f.optional(f.opaque('The update exactly as the channel got it.')),
  config: f.optional(f.openRecord("The host's configuration, as its source hands it over.")),
});
/** The payload of `ingress.normalized`. */
export interface IngressNormalized extends Readonly<Infer<typeof ingressNormalizedPayload>> {}

const ingressNormalizedPatch = f.object({
  content: f.optional(f.text('What was said, anew.')),
  promptText: f.optional(f.text('The text as a model is to read it, anew.')),
  transcript: f.optional(f.text('What is said in its audio.')),
  attachments: f.optional(attachments('All files that are to go on with it.')),
  metadata: f.optional(f.openRecord('Keys to set; the others stay.')),
});
/** The patch that a mutator of `ingress.normalized` may return. */
export interface IngressNormalizedPatch extends Infer<typeof ingressNormalizedPatch> {}

export const ingressStages = [
  watchedStage({
    family: 'ingress.received',
    payload: named<IngressReceived>(ingressReceivedPayload),
    shared: ['raw'],
    ...briefly,
    purpose: 'Audit of what came in, before it is decoded.',
    emittedWhen: 'when a channel hands over an update',
  }),
  canonicalStage({
    family: 'ingress.normalized',
    classes: ['observer', 'augmenter', 'mutator'],
    mode: 'sequential',
    payload: named<IngressNormalized>(ingressNormalizedPayload),
    patch: named<IngressNormalizedPatch>(ingressNormalizedPatch),
    laws: { metadata: 'merge-keys' },
    shared: ['raw', 'config'],
    annotations: annotated('context', 'memoryKeys', 'language', 'summary'),
    purpose: 'Enriches a decoded message before it is routed.',
    emittedWhen: "when the channel's decodeIngress has made a message of an update",
  }),
] as const;
