import type { AgentBus } from './agent-event-sequences.js';

type Listener = Parameters<AgentBus['on']>[0];
interface Entry {
  readonly listener: Listener;
  isGone: boolean;
}

type Context = Record<string, unknown>;

/** The agent event bus of profile 2026.3 in a few lines, made of what is known of it and of none of its code. */
export function agentEventModel(): AgentBus {
  const entries: Entry[] = [];
  const find = (listener: Listener) =>
    entries.find((entry) => entry.listener === listener && !entry.isGone);
  const counts: Record<string, number> = {};
  const contexts: Record<string, Context> = {};
  return {
    emit: (event) => {
      const runId = String(event.runId);
      counts[runId] = (counts[runId] ?? 0) + 1;
      const context = contexts[runId] ?? {};
      const said = typeof event.sessionKey === 'string' ? event.sessionKey : '';
      const key = said.trim() === '' ? context.sessionKey : said;
      const sessionKey = context.isControlUiVisible === false ? undefined : key;
      const told = { ...event, sessionKey, seq: counts[runId], ts: 0 };
      // one that is added meanwhile is at the end, and is reached; one that is taken away is not
      for (let at = 0; at < entries.length; at++) {
        const { listener, isGone } = entries[at] as Entry;
        if (isGone) continue;
        try {
          listener(told);
        } catch {
          // nobody hears of it
        }
      }
    },
    on: (listener) => {
      if (find(listener) === undefined) entries.push({ listener, isGone: false });
      return () => {
        const entry = find(listener);
        if (entry !== undefined) entry.isGone = true;
        return entry !== undefined;
      };
    },
    register: (runId, { ...said }) => {
      if (runId === '') return;
      const existing = contexts[runId];
      if (existing === undefined) {
        contexts[runId] = said;
        return;
      }
      for (const name of ['sessionKey', 'verboseLevel'])
        if (said[name]) existing[name] = said[name];
      for (const name of ['isHeartbeat', 'isControlUiVisible'])
        if (said[name] !== undefined) existing[name] = said[name];
    },
    context: (runId) => contexts[runId],
    clear: (runId) => {
      delete contexts[runId];
    },
  };
}
