import { type Static, Type } from 'typebox';
import { named } from '../stage/named.js';
import { defineStage } from '../stage/stage.js';
import { annotations } from './pieces/annotations.js';
import { amount, closed, opaque, openRecord, optional, text } from './pieces/field.js';
import { attachments, inboundMessageFields } from './pieces/message.js';

const ingressReceivedPayload = Type.Object(
  {
    channel: text('The channel it came by.'),
    accountId: optional(text("The channel's account that got it.")),
    updateId: optional(text('The id that the provider gave this update.')),
    receivedAtMs: optional(amount('When it came in, in milliseconds since 1970.')),
    raw: opaque('The update exactly as the channel got it.'),
  },
  closed,
);
/** The payload of `ingress.received`. */
export interface IngressReceived extends Static<typeof ingressReceivedPayload> {}

const ingressNormalizedPayload = Type.Object(
  {
    ...inboundMessageFields,
    raw: optional(opaque('The update exactly as the channel got it.')),
    config: optional(openRecord("The host's configuration, as its source hands it over.")),
  },
  closed,
);
/** The payload of `ingress.normalized`. */
export interface IngressNormalized extends Static<typeof ingressNormalizedPayload> {}

const ingressNormalizedPatch = Type.Object(
  {
    content: optional(text('What was said, anew.')),
    promptText: optional(text('The text as a model is to read it, anew.')),
    transcript: optional(text('What is said in its audio.')),
    attachments: optional(attachments('All files that are to go on with it.')),
    metadata: optional(openRecord('Keys to set; the others stay.')),
  },
  closed,
);
/** The patch that a mutator of `ingress.normalized` may return. */
export interface IngressNormalizedPatch extends Static<typeof ingressNormalizedPatch> {}

export const ingressStages = [
  defineStage({
    family: 'ingress.received',
    classes: ['observer'],
    mode: 'parallel',
    payload: named<IngressReceived>(ingressReceivedPayload),
    shared: ['raw'],
    timeoutMs: 5_000,
    stageTimeoutMs: 5_000,
    purpose: 'Telemetry, audit and diagnostics of what came in, before it is decoded.',
    emitter: 'host',
    emittedBy: 'host',
    emittedWhen: 'when a channel hands over an update',
  }),
  defineStage({
    family: 'ingress.normalized',
    classes: ['observer', 'augmenter', 'mutator'],
    mode: 'sequential',
    payload: named<IngressNormalized>(ingressNormalizedPayload),
    patch: named<IngressNormalizedPatch>(ingressNormalizedPatch),
    laws: { metadata: 'merge-keys' },
    shared: ['raw', 'config'],
    annotations: Type.Pick(
      annotations,
      ['notes', 'labels', 'context', 'memoryKeys', 'language', 'summary'],
      closed,
    ),
    replaceable: ['language', 'summary'],
    purpose: 'Enriches a decoded message before it is routed; it chooses no route.',
    emitter: 'host',
    emittedBy: 'host',
    emittedWhen: "when the channel's decodeIngress has made a message of an update",
  }),
] as const;
