/** A dispatch, as far as it tells of a call or of a subagent. */
export interface ToldDispatch {
  readonly event: { readonly family: string };
  readonly payload: object;
}

/** What was told of calls and subagents, each list in the order of its ids. */
export interface Told {
  readonly calling: readonly string[];
  readonly called: readonly string[];
  readonly spawned: readonly string[];
  readonly completed: readonly string[];
  /** The names of the tools that were told without a name of their own. */
  readonly unknown: readonly string[];
}

/** Reads out of dispatches which calls and which subagents they tell of. */
export function toldOf(dispatches: readonly ToldDispatch[]): Told {
  const of = (family: string, key: string): string[] =>
    dispatches
      .filter(({ event }) => event.family === family)
      .map(({ payload }) => String(Object.entries(payload).find(([name]) => name === key)?.[1]))
      .toSorted();
  return {
    calling: of('agent.tool.calling', 'toolCallId'),
    called: of('agent.tool.called', 'toolCallId'),
    spawned: of('subagent.spawned', 'runId'),
    completed: of('subagent.completed', 'runId'),
    unknown: of('agent.tool.calling', 'toolName').filter((name) => name === 'unknown'),
  };
}

/** The same, with each call and each subagent begun once and ended once. */
export function onceEach({ calling, spawned }: Told): Told {
  const calls = [...new Set(calling)];
  const children = [...new Set(spawned)];
  return { calling: calls, called: calls, spawned: children, completed: children, unknown: [] };
}
