import { type Trail, whyNot } from '@sluice/agent';
import type { ExplicitRoute, InboundMessage } from '@sluice/sdk/channel';
import {
  type CancelRecord,
  definedFields,
  type PayloadOf,
  type Principal,
} from 'sluice-kernel/internal';
import type { AgentDefinition } from '../parts/options.js';
import type { HostParts } from '../parts/parts.js';

/** A message without what only its decoding needed: as it is routed. */
export type RoutedMessage = PayloadOf<'routing.resolving'>['message'];

/** The place in which a message is answered, and who has said it, as far as that is proven. */
export interface Route {
  readonly agent: AgentDefinition;
  readonly sessionKey: string;
  readonly principal: Principal | undefined;
}

/** The route of a message, or why it has none. */
export type Routing =
  | ({ readonly status: 'routed' } & Route)
  | { readonly status: 'cancelled'; readonly reason: string; readonly cancel: CancelRecord }
  | { readonly status: 'failed'; readonly reason: string };

/**
 * Routes a message: `routing.resolving`, then `routing.resolved`. A route that its source named is never
 * re-routed. Only agents that the host offers are valid; without one the message fails, visibly.
 */
export async function routeMessage(
  parts: HostParts,
  trail: Trail,
  message: RoutedMessage,
  explicitRoute: ExplicitRoute | undefined,
): Promise<Routing> {
  const agents = [...parts.agents.keys()];
  const resolving = await trail.dispatch(
    'routing.resolving',
    {
      message,
      agents,
      defaultAgentId: parts.defaultAgentId,
      ...definedFields({ explicitRoute }),
    },
    {
      signal: parts.signal,
      valid: ({ agentId }) => parts.agents.has(agentId) || `there is no agent "${agentId}"`,
    },
  );
  if (resolving.status === 'cancelled')
    return { status: 'cancelled', reason: whyNot(resolving), cancel: resolving.cancel };
  if (resolving.status === 'failed') return { status: 'failed', reason: whyNot(resolving) };
  const { selection, candidates } = resolving;
  const route = explicitRoute ?? selection?.target;
  const agent = parts.agents.get(route?.agentId ?? '');
  if (route === undefined || agent === undefined) {
    const asked = route === undefined ? 'no route' : `a route to agent "${route.agentId}"`;
    return { status: 'failed', reason: `it has ${asked}; there are: ${agents.join(', ')}` };
  }
  const sessionKey = route.sessionKey ?? sessionKeyOf(agent.id, message);
  trail.carry({ agentId: agent.id });
  const telling = trail.tell('routing.resolved', () => ({
    message,
    agentId: agent.id,
    sessionKey,
    explicit: explicitRoute !== undefined || selection?.explicit === true,
    candidateCount: candidates.filter(({ invalid }) => invalid === undefined).length,
    ...(selection !== undefined && {
      selectedBy: { extensionId: selection.extensionId, contributionId: selection.contributionId },
    }),
  }));
  const resolved = telling && (await telling);
  if (resolved !== undefined && resolved.status !== 'passed')
    return { status: 'failed', reason: whyNot(resolved) };
  return { status: 'routed', agent, sessionKey, principal: resolving.principal };
}

/**
 * The session that a message belongs to where its route does not say: one for each agent, account, conversation and
 * thread. The default account and absent threads leave no trace in it.
 *
 * @example
 * sessionKeyOf('main', message); // 'agent:main:console:ada'
 */
export function sessionKeyOf(
  agentId: string,
  message: PayloadOf<'routing.resolving'>['message'],
): string {
  const { channel, accountId = 'default', threadId } = message;
  const conversation = conversationOf(message);
  const within = conversation.startsWith(`${channel}:`)
    ? conversation.slice(channel.length + 1)
    : conversation;
  return [
    'agent',
    agentId,
    channel,
    ...(accountId === 'default' ? [] : [accountId]),
    within,
    ...(threadId === undefined ? [] : ['thread', String(threadId)]),
  ].join(':');
}

/** Names the conversation of a message: by its own id, or else by its writer. */
export function conversationOf(message: RoutedMessage | InboundMessage): string {
  return message.conversationId ?? message.from;
}

/** The lane of the conversation of a message. */
export function laneOfPlace(
  channel: string,
  accountId: string,
  message: RoutedMessage | InboundMessage,
): string {
  return JSON.stringify([
    ...[channel, accountId, conversationOf(message), String(message.threadId ?? '')],
  ]);
}
