import { Node } from '../source/node.js';
import { pairedPeople } from '../state/paired.js';
import {
  type AccountAccess,
  type ChannelKind,
  channelRules,
  groupAccess,
  privateAccess,
  type SettingOf,
} from './access.js';
import type { Draft } from './draft.js';

const kinds: readonly ChannelKind[] = [
  {
    id: 'telegram',
    groups: 'groups',
    people: 'allowFrom',
    policy: 'groupPolicy',
    isGroup: /^-?\d+$/,
    isPerson: /^\d+$/,
    nobody: '0',
  },
  {
    id: 'slack',
    groups: 'channels',
    people: 'users',
    policy: 'channelPolicy',
    isGroup: /^[CG][A-Z\d]{2,}$/,
    isPerson: /^[UW][A-Z\d]{2,}$/,
    nobody: 'U00',
  },
];

interface Account extends AccountAccess {
  readonly id: string;
  readonly of: SettingOf;
}

/** Converts Telegram and Slack: their accounts, and who may write where. */
export function convertChannels(draft: Draft): void {
  const { carried, channels, extensions } = draft;
  for (const kind of kinds) {
    const accounts = accountsOf(draft, kind);
    if (accounts.length === 0) continue;
    checkCommands(draft, accounts);
    const gates = accounts.map(({ id, dm, groups }) => [id, { dm, groups }]);
    carried.access = { ...carried.access, [kind.id]: Object.fromEntries(gates) };
    channels.push(kind.id);
    const bots = accounts.map(({ id, of }) => [id, secretsOf(kind.id, of)]);
    const modes = accounts.map(({ of }) => of('streaming').value ?? of('streamMode').value);
    extensions.push({
      path: `sluice-${kind.id}`,
      config: {
        accounts: Object.fromEntries(bots),
        ...channelRules(kind, accounts),
        ...(kind.id === 'slack' && {
          replyInThread: accounts.some(
            ({ of }) => !['off', undefined].includes(of('replyToMode').text()),
          ),
        }),
        streaming: modes.some((mode) => mode !== undefined && mode !== false && mode !== 'off'),
        // updates are polled: a proxy that waits for them is no more
        ...(accounts.some(({ of }) => of('webhookUrl').isThere) && { replaceWebhook: true }),
      },
    });
  }
  convertDebounce(draft);
}

/** The accounts that are started. */
function accountsOf(draft: Draft, kind: ChannelKind): readonly Account[] {
  const { root, report } = draft;
  const node = root.get('channels', kind.id);
  if (!node.isThere || node.get('enabled').flag() === false) return [];
  const named = node.get('accounts').entries();
  const usual = root.get('channels', 'defaults', 'groupPolicy').text() ?? 'allowlist';
  return (named.length > 0 ? named : [['default', node] as const]).flatMap(([id, account]) => {
    if (account.get('enabled').flag() === false) return [];
    const of: SettingOf = (...names) =>
      [account, node]
        .flatMap((one) => names.map((name) => one.get(...name.split('.'))))
        .find(({ isThere }) => isThere) ?? new Node(undefined, node.path, node.reading);
    const dm = privateAccess(of, pairedPeople(draft, kind.id, id));
    const hint = 'Name it by its id, such as C012AB3CD.';
    const groups = groupAccess(kind, of, usual, ({ path }, doesRestrict) =>
      doesRestrict ? report.refuse(path, hint) : report.note(path, 'not supported', hint),
    );
    return [{ id, of, dm, ...groups }];
  });
}

/** A channel has one list of those who may give commands: lists that differ cannot be kept apart. */
function checkCommands({ report }: Draft, accounts: readonly Account[]): void {
  if (new Set(accounts.map(({ dm }) => JSON.stringify([...dm].sort()))).size < 2) return;
  const hint = 'Whoever may write to one bot may give commands such as /new to the others, too.';
  for (const { of } of accounts)
    for (const node of [of('allowFrom'), of('dmPolicy')])
      if (node.isThere) report.refuse(node.path, hint);
}

function secretsOf(channel: 'telegram' | 'slack', of: SettingOf): Record<string, unknown> {
  const ofSlack =
    of('mode').text() === 'http' ? ['botToken', 'signingSecret'] : ['botToken', 'appToken'];
  const secrets = (channel === 'slack' ? ofSlack : ['botToken']).flatMap((name) => {
    const secret = of(name).secret();
    return secret === undefined ? [] : [[channel === 'slack' ? name : 'token', secret]];
  });
  const file = of('tokenFile').text();
  if (channel === 'telegram' && file !== undefined && secrets.length === 0)
    return { tokenFile: file };
  return {
    ...Object.fromEntries(secrets),
    ...(channel === 'slack' && of('mode').text() === 'http' && { events: {} }),
  };
}

/** The time that a message waits for the next one of its sender. */
function convertDebounce({ root, channels, config }: Draft): void {
  const node = root.get('messages', 'inbound');
  const waits = channels.flatMap((channel) => {
    const wait = node.get('byChannel', channel).number() ?? node.get('debounceMs').number();
    return wait === undefined || wait < 0 ? [] : [[channel, Math.min(wait, 60_000)]];
  });
  if (waits.length > 0) config['ingress'] = { joinWithinMs: Object.fromEntries(waits) };
}
