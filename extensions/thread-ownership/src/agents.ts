import type { Config } from './config.js';

/** One agent of this host. */
export interface Agent {
  /** The name of the agent at the ownership service. If it is absent, the event's own agent is asked for. */
  readonly id?: string;
  /** The name that people mention it by. */
  readonly name?: string;
  /** The id that Slack writes into a mention of it. */
  readonly botUserId?: string;
}

/**
 * Reads the agents of a configuration.
 *
 * @param botUserId of the main agent, where its entry has none.
 * @returns the agents, the one that speaks if an event names none of them (the default, or the first), and who speaks for
 *   an event.
 */
export function agentsOf(list: Config['agents'], botUserId: string | undefined) {
  const chosen = list.findIndex((entry) => entry.default === true);
  const mainAt = Math.max(0, chosen);
  const all = list.map((entry, at) => agentOf(entry, at === mainAt ? botUserId : undefined));
  const main = all[mainAt] ?? agentOf({}, botUserId);
  return {
    all: all.length === 0 ? [main] : all,
    main,
    speaking: (agentId: string | null) => all.find(({ id }) => id === agentId) ?? main,
  };
}

function agentOf(entry: Partial<Config['agents'][number]>, fallbackBotUserId?: string): Agent {
  const { id } = entry;
  const name = entry.identity?.name?.trim() || entry.name?.trim();
  const botUserId = entry.botUserId ?? fallbackBotUserId;
  return { ...(id && { id }), ...(name && { name }), ...(botUserId && { botUserId }) };
}
