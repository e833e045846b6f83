import { type Fields, fieldsOf } from 'sluice-kernel/internal';
import { chatTypeOf } from './context.js';
import { accountOf, listOf, plainName, textOf } from './settings.js';

interface Peer {
  readonly kind: string;
  readonly id: string;
}

interface RouteInput {
  readonly cfg: unknown;
  readonly channel: unknown;
  readonly accountId?: unknown;
  readonly peer?: unknown;
  readonly parentPeer?: unknown;
  readonly guildId?: unknown;
  readonly teamId?: unknown;
  readonly memberRoleIds?: readonly unknown[];
}

/** An id of an agent as session keys write it. */
const agentIdOf = (value: unknown): string => plainName(value, 'main');

function peerOf(value: unknown): Peer | undefined {
  const { kind, id } = fieldsOf(value);
  const of = textOf(id);
  return of === undefined ? undefined : { kind: chatTypeOf(kind) ?? String(kind), id: of };
}

/** The agent that takes what no binding gives to another. */
export function defaultAgentOf(cfg: unknown): string {
  const agents = listOf(fieldsOf(fieldsOf(cfg)['agents'])['list']);
  const chosen = agents.find((agent) => agent['default'] === true) ?? agents[0];
  return agentIdOf(chosen?.['id']);
}

/** `buildAgentSessionKey`: the key of a session, as the configuration divides direct messages. */
export function buildAgentSessionKey(params: {
  readonly agentId: unknown;
  readonly channel: unknown;
  readonly accountId?: unknown;
  readonly peer?: unknown;
  readonly dmScope?: unknown;
  readonly identityLinks?: unknown;
}): string {
  const agent = `agent:${agentIdOf(params.agentId)}`;
  const channel = textOf(params.channel)?.toLowerCase() ?? 'unknown';
  const { kind = 'direct', id = 'unknown' } = peerOf(params.peer) ?? {};
  if (kind !== 'direct') return `${agent}:${channel}:${kind}:${id.toLowerCase()}`;
  const peer = linkedPeer(params.identityLinks, channel, id) ?? id.toLowerCase();
  switch (params.peer === undefined || params.peer === null ? 'main' : params.dmScope) {
    case 'per-account-channel-peer':
      return `${agent}:${channel}:${accountOf(params.accountId)}:direct:${peer}`;
    case 'per-channel-peer':
      return `${agent}:${channel}:direct:${peer}`;
    case 'per-peer':
      return `${agent}:direct:${peer}`;
    default:
      return `${agent}:main`;
  }
}

/** The name under which the configuration knows a person on several channels. */
function linkedPeer(links: unknown, channel: string, id: string): string | undefined {
  const known = [id.toLowerCase(), `${channel}:${id}`.toLowerCase()];
  const found = Object.entries(fieldsOf(links)).find(
    ([, ids]) =>
      Array.isArray(ids) && ids.some((one) => known.includes(textOf(one)?.toLowerCase() ?? '')),
  );
  return found?.[0].trim().toLowerCase();
}

/** `resolveAgentRoute`: the agent and the session for a message, by the bindings of the configuration. */
export function resolveAgentRoute(input: RouteInput) {
  const { cfg } = input;
  const channel = textOf(input.channel)?.toLowerCase() ?? '';
  const accountId = accountOf(input.accountId);
  const peer = peerOf(input.peer);
  const { binding, matchedBy } = bindingOf(input, channel, accountId, peer);
  const agentId = existingAgent(cfg, binding?.['agentId']);
  const { dmScope = 'main', identityLinks } = fieldsOf(fieldsOf(cfg)['session']);
  const of = { agentId, channel, accountId, dmScope, identityLinks };
  const sessionKey = buildAgentSessionKey({ ...of, peer }).toLowerCase();
  const mainSessionKey = `agent:${agentId}:main`;
  const lastRoutePolicy = sessionKey === mainSessionKey ? 'main' : 'session';
  return { agentId, channel, accountId, sessionKey, mainSessionKey, lastRoutePolicy, matchedBy };
}

/** An agent of the configuration: one that it does not list is the default one, if it lists any. */
function existingAgent(cfg: unknown, agentId: unknown): string {
  const listed = listOf(fieldsOf(fieldsOf(cfg)['agents'])['list']).map(({ id }) => agentIdOf(id));
  const named = textOf(agentId) === undefined ? undefined : agentIdOf(agentId);
  const exists = named !== undefined && (listed.length === 0 || listed.includes(named));
  return exists ? named : defaultAgentOf(cfg);
}

/** The binding that a message falls under: the most exact kind first, then the order of the configuration. */
function bindingOf(
  input: RouteInput,
  channel: string,
  accountId: string,
  peer: Peer | undefined,
): { readonly binding?: Fields; readonly matchedBy: string } {
  const guildId = textOf(input.guildId);
  const teamId = textOf(input.teamId);
  const roles = (input.memberRoleIds ?? []).map(String);
  const bindings = listOf(fieldsOf(input.cfg)['bindings']).filter(({ match }) => {
    const { channel: of, accountId: as } = fieldsOf(match);
    return textOf(of)?.toLowerCase() === channel && (as === '*' || accountOf(as) === accountId);
  });
  const fits = (match: Fields, at: Peer | undefined): boolean => {
    const wanted = peerOf(match['peer']);
    const isPeer =
      match['peer'] === undefined ||
      (wanted !== undefined && wanted.id === at?.id && isSameKind(wanted.kind, at.kind));
    const listed: unknown[] = Array.isArray(match['roles']) ? match['roles'] : [];
    return (
      isPeer &&
      [undefined, guildId].includes(textOf(match['guildId'])) &&
      [undefined, teamId].includes(textOf(match['teamId'])) &&
      (listed.length === 0 || listed.some((role) => roles.includes(String(role))))
    );
  };
  const tiers: readonly (readonly [string, Peer | undefined])[] = [
    ['binding.peer', peer],
    ['binding.peer.parent', peerOf(input.parentPeer)],
    ['binding.guild+roles', peer],
    ['binding.guild', peer],
    ['binding.team', peer],
    ['binding.account', peer],
    ['binding.channel', peer],
  ];
  for (const [tier, at] of tiers) {
    const isPeerTier = tier.startsWith('binding.peer');
    const binding = bindings.find(({ match }) => {
      const kind = tierOf(fieldsOf(match));
      return (isPeerTier ? kind === 'binding.peer' : kind === tier) && fits(fieldsOf(match), at);
    });
    if (binding !== undefined) return { binding, matchedBy: tier };
  }
  return { matchedBy: 'default' };
}

function isSameKind(one: string, other: string): boolean {
  const isRoom = (kind: string): boolean => kind === 'group' || kind === 'channel';
  return one === other || (isRoom(one) && isRoom(other));
}

/** The kind of a binding, by the most exact thing that it names. */
function tierOf({ peer, guildId, teamId, roles, accountId }: Fields): string {
  if (peer !== undefined) return 'binding.peer';
  if (textOf(guildId) !== undefined)
    return Array.isArray(roles) && roles.length > 0 ? 'binding.guild+roles' : 'binding.guild';
  if (textOf(teamId) !== undefined) return 'binding.team';
  return accountId === '*' ? 'binding.channel' : 'binding.account';
}
