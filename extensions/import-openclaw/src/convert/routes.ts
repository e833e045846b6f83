import { binding, dmScope, sendPolicy } from '../carried/settings.js';
import { person } from './access.js';
import { agentIdOf, type Draft } from './draft.js';

/** Converts bindings, topics with an agent, the rules of sessions, identity links and owners. */
export function convertRoutes(draft: Draft): void {
  const { root, carried, report, config } = draft;
  const session = root.get('session');
  const bound = root
    .get('bindings')
    .items()
    .flatMap((node) => {
      const read = binding.safeParse(node.verbatim());
      if (read.success) return [{ ...read.data, agentId: agentIdOf(read.data.agentId) }];
      report.refuse(
        node.path,
        'It is left out, so that another agent answers: write a resolver of routing.resolving.',
      );
      return [];
    });
  const bindings = [...bound, ...topicBindings(draft)];
  if (bindings.length > 0) carried.bindings = bindings;
  const policy = sendPolicy.safeParse(session.get('sendPolicy').verbatim() ?? {});
  if (policy.success) carried.sendPolicy = policy.data;
  else report.refuse(session.get('sendPolicy').path, 'A part of it is not known.');
  const scope = dmScope.safeParse(session.get('dmScope').text() ?? 'main');
  if (scope.success) carried.dmScope = scope.data;
  else report.refuse(session.get('dmScope').path, 'It is not known, so all would share a session.');
  carried.mainKey = session.get('mainKey').text() ?? 'main';
  const roles = new Map<string, string[]>();
  const links: Record<string, string[]> = {};
  for (const [name, ids] of session.get('identityLinks').entries()) {
    const proven = ids.texts().filter((id) => /^[^:/\s]+:\S+$/.test(id));
    if (proven.length < ids.items().length)
      report.note(ids.path, 'not supported', 'Write each with its channel, such as telegram:42.');
    if (proven.length === 0) continue;
    links[name] = proven;
    if (name !== 'owner') roles.set(name, proven); // the role of that name owns the host
  }
  carried.identityLinks = links;
  const owners = ownersOf(draft);
  if (owners.length > 0) roles.set('owner', owners);
  if (roles.size > 0) config['roles'] = Object.fromEntries(roles);
}

/** The owners as members of a role. One without a channel is meant on each. */
function ownersOf({ root, report }: Draft): string[] {
  const named = root.get('commands', 'ownerAllowFrom').items();
  for (const node of named)
    if (node.value === '*') report.refuse(node.path, 'Name the owners: a role has no member "*".');
  return root
    .get('commands', 'ownerAllowFrom')
    .texts()
    .filter((one) => one !== '*' && one !== '')
    .flatMap((one) =>
      /^[^:/\s]+:\S/.test(one)
        ? [one.replace(/^tg:/, 'telegram:')]
        : ['telegram', 'slack'].map((channel) => `${channel}:${person(one)}`),
    );
}

/** The topics of Telegram that have an agent of their own. */
function topicBindings({ root }: Draft) {
  const telegram = root.get('channels', 'telegram');
  const places = [['*', telegram] as const, ...telegram.get('accounts').entries()];
  return places.flatMap(([accountId, place]) =>
    place
      .get('groups')
      .entries()
      .flatMap(([group, node]) =>
        node
          .get('topics')
          .entries()
          .flatMap(([topic, one]) => {
            const agentId = one.get('agentId').text();
            const peer = { kind: 'group' as const, id: `${group}:topic:${topic}` };
            return agentId !== undefined
              ? [{ agentId: agentIdOf(agentId), match: { channel: 'telegram', accountId, peer } }]
              : [];
          }),
      ),
  );
}
