import { type Static, Type } from 'typebox';
import { named } from '../stage/named.js';
import { defineStage } from '../stage/stage.js';
import { annotations } from './pieces/annotations.js';
import { closed, count, flag, optional, text, texts } from './pieces/field.js';
import { inboundMessage } from './pieces/message.js';
import { contributionRef } from './pieces/place.js';

/** The agent that answers a message, and the session. */
export const route = Type.Object(
  {
    agentId: text('The agent that answers.'),
    sessionKey: optional(text('The session it answers in; the host derives one where absent.')),
  },
  { ...closed, description: 'The agent, and the session.' },
);
export interface Route extends Static<typeof route> {}

const routingResolvingPayload = Type.Object(
  {
    message: inboundMessage,
    agents: texts('The ids of the agents that the host offers.'),
    defaultAgentId: optional(text('The agent that answers where nothing else is said.')),
    explicitRoute: optional(route),
  },
  closed,
);
/** The payload of `routing.resolving`. */
export interface RoutingResolving extends Static<typeof routingResolvingPayload> {}

const routingResolvedPayload = Type.Object(
  {
    message: inboundMessage,
    ...route.properties,
    explicit: flag('The route was named by the message or by an explicit selection.'),
    selectedBy: optional(contributionRef('Whose selection it was; absent where the host decided.')),
    candidateCount: optional(count('How many valid candidates there were.')),
  },
  closed,
);
/** The payload of `routing.resolved`. */
export interface RoutingResolved extends Static<typeof routingResolvedPayload> {}

export const routingStages = [
  defineStage({
    family: 'routing.resolving',
    classes: ['augmenter', 'resolver', 'veto'],
    mode: 'sequential',
    payload: named<RoutingResolving>(routingResolvingPayload),
    annotations: Type.Pick(annotations, ['notes', 'labels', 'context', 'memoryKeys'], closed),
    selection: route,
    settled: (payload) => payload.explicitRoute !== undefined,
    cancelCodes: ['blocked', 'policy', 'owned-elsewhere', 'duplicate', 'rate-limited'],
    onError: { augmenter: 'open', resolver: 'closed', veto: 'open' },
    purpose: 'Looks a route up, checks ownership and applies policy before the route is final.',
    emitter: 'host',
    emittedBy: 'host',
    emittedWhen: 'when a message has been normalized',
  }),
  defineStage({
    family: 'routing.resolved',
    classes: ['observer', 'augmenter'],
    mode: 'sequential',
    payload: named<RoutingResolved>(routingResolvedPayload),
    annotations: Type.Pick(
      annotations,
      ['notes', 'labels', 'context', 'memoryKeys', 'language', 'summary'],
      closed,
    ),
    replaceable: ['language', 'summary'],
    purpose: 'Publishes the route, and enriches the context of the session that follows.',
    emitter: 'host',
    emittedBy: 'host',
    emittedWhen: 'when a route is final',
  }),
] as const;
