import { type Fields, fieldsOf } from 'sluice-kernel/internal';

/** A text without blanks at its ends; `undefined` where there is none. */
export function textOf(value: unknown): string | undefined {
  if (typeof value === 'number' || typeof value === 'bigint') return String(value);
  const text = typeof value === 'string' ? value.trim() : '';
  return text === '' ? undefined : text;
}

/** The entries of a list from outside, as fields; none where it is no list. */
export function listOf(value: unknown): readonly Fields[] {
  return Array.isArray(value) ? value.map(fieldsOf) : [];
}

/** The id of an account as configurations write it: `default` where none is named. */
export function accountOf(accountId: unknown): string {
  return textOf(accountId)?.toLowerCase() ?? 'default';
}

/** A name as keys and files hold it. @param otherwise stands for a name of which nothing is left. */
export function plainName(value: unknown, otherwise: string): string {
  const name = textOf(value)
    ?.toLowerCase()
    .replaceAll(/[^a-z0-9_-]+/g, '-');
  return name?.replaceAll(/^-+|-+$/g, '').slice(0, 64) || otherwise;
}

/** The member of an object under a name, whatever its case. */
function anyCase(from: Fields, name: string): unknown {
  if (Object.hasOwn(from, name)) return from[name];
  const key = Object.keys(from).find((one) => one.toLowerCase() === name.toLowerCase());
  return key === undefined ? undefined : from[key];
}

/** The settings of a channel, those of the account first: the first that sets a key decides. */
export function sectionsOf(cfg: unknown, channel: unknown, accountId?: unknown): readonly Fields[] {
  const id = textOf(channel);
  if (id === undefined || id === 'webchat') return [];
  const section = fieldsOf(fieldsOf(fieldsOf(cfg)['channels'])[id] ?? fieldsOf(cfg)[id]);
  const account = fieldsOf(anyCase(fieldsOf(section['accounts']), accountOf(accountId)));
  return [account, section];
}

/** The settings of an agent: those of its own, then the defaults of all. */
export function agentSettings(cfg: unknown, agentId: unknown): { own: Fields; defaults: Fields } {
  const agents = fieldsOf(fieldsOf(cfg)['agents']);
  const id = textOf(agentId)?.toLowerCase();
  const own = listOf(agents['list']).find((agent) => textOf(agent['id'])?.toLowerCase() === id);
  return { own: own ?? {}, defaults: fieldsOf(agents['defaults']) };
}
