import type { Infer } from '../schema/schema.js';
import { named } from '../stage/named.js';
import { annotated } from './pieces/annotations.js';
import { annotatedStage, canonicalStage } from './pieces/canonical-stage.js';
import * as f from './pieces/field.js';
import { inboundMessage } from './pieces/message.js';
import { contributionRef } from './pieces/place.js';

/** The agent that answers a message, and the session. */
export const route = f.object(
  {
    agentId: f.text('The agent that answers.'),
    sessionKey: f.optional(f.text('The session it answers in; the host derives one where absent.')),
  },
  'The agent, and the session.',
);
export interface Route extends Infer<typeof route> {}

const routingResolvingPayload = f.object({
  message: inboundMessage,
  agents: f.texts('The ids of the agents that the host offers.'),
  defaultAgentId: f.optional(f.text('The agent that answers where nothing else is said.')),
  explicitRoute: f.optional(route),
});
/** The payload of `routing.resolving`. */
export interface RoutingResolving extends Readonly<Infer<typeof routingResolvingPayload>> {}

const routingResolvedPayload = f.object({
  message: inboundMessage,
  ...route.properties,
  explicit: f.flag('The route was named by the message or by an explicit selection.'),
  selectedBy: f.optional(contributionRef('Whose selection it was; absent where the host decided.')),
  candidateCount: f.optional(f.count('How many valid candidates there were.')),
});
/** The payload of `routing.resolved`. */
export interface RoutingResolved extends Readonly<Infer<typeof routingResolvedPayload>> {}

export const routingStages = [
  canonicalStage({
    family: 'routing.resolving',
    classes: ['augmenter', 'resolver', 'veto'],
    mode: 'sequential',
    payload: named<RoutingResolving>(routingResolvingPayload),
    annotations: annotated('context', 'memoryKeys'),
    selection: named<Route>(route),
    settled: (payload) => payload.explicitRoute !== undefined,
    cancelCodes: [
      'blocked',
      'policy',
      'owned-elsewhere',
      'duplicate',
      'handled',
      'rate-limited',
      'budget-exceeded',
    ],
    cancelReplies: true,
    onError: { augmenter: 'open', resolver: 'closed', veto: 'open' },
    principal: true,
    purpose: 'Chooses the route, by ownership and policy.',
    emittedWhen: 'when a message has been normalized',
  }),
  annotatedStage({
    family: 'routing.resolved',
    payload: named<RoutingResolved>(routingResolvedPayload),
    annotations: annotated('context', 'memoryKeys', 'language', 'summary'),
    purpose: 'Publishes the route, and enriches its session.',
    emittedWhen: 'when a route is final',
  }),
] as const;
