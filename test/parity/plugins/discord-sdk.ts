/** Stands for `openclaw/plugin-sdk/discord`, whose dependencies are not installed: what the subagent hooks call of it. */

type Fields = Readonly<Record<string, unknown>>;

/** A child session that talks in a Discord thread. */
export interface Binding {
  readonly accountId: string;
  readonly threadId: string;
  readonly targetSessionKey: string;
}

/** What a test makes the stand-in do, and what it was asked. */
export const discord = {
  bindings: [] as Binding[],
  bind: (): unknown => ({ threadId: 't' }),
  bound: [] as Fields[],
  unbound: [] as Fields[],
};

/** Forgets what was asked, and what it was made to do. */
export function resetDiscord(): void {
  discord.bindings = [];
  discord.bind = () => ({ threadId: 't' });
  discord.bound = [];
  discord.unbound = [];
}

export function resolveDiscordAccount({ accountId }: { accountId?: string }): Fields {
  return { accountId: accountId?.trim() || 'default' };
}

export async function autoBindSpawnedDiscordSubagent(params: Fields): Promise<unknown> {
  discord.bound.push(params);
  return discord.bind();
}

export function listThreadBindingsBySessionKey(params: {
  targetSessionKey: string;
  accountId?: string;
}): readonly Binding[] {
  return discord.bindings.filter(
    ({ targetSessionKey, accountId }) =>
      targetSessionKey === params.targetSessionKey &&
      (params.accountId === undefined || accountId === params.accountId),
  );
}

export function unbindThreadBindingsBySessionKey(params: Fields): void {
  discord.unbound.push(params);
}
