import { checkOrdering } from '../../src/claude/index.js';
import type { AgentProvider, SessionEvent } from '../../src/sdk/stream/index.js';

/** What a stream that was cut off cannot help. */
const unfinished = /-not-ended$|^agent-end-missing$/;

/** What is out of order in the events of a run, as far as it came. */
export function disorderOf(events: readonly SessionEvent[]): readonly string[] {
  const isWhole = events.at(-1)?.type === 'agent_end';
  return checkOrdering(events)
    .filter(({ rule }) => isWhole || !unfinished.test(rule))
    .map(({ message }) => message);
}

/** A provider that keeps what each of its runs yields. */
export interface Watched {
  readonly provider: AgentProvider;
  readonly runs: readonly (readonly SessionEvent[])[];
}

/** Keeps what each run of a provider yields. */
export function watched(provider: AgentProvider): Watched {
  const runs: SessionEvent[][] = [];
  const run: AgentProvider['run'] = (request) => {
    const events: SessionEvent[] = [];
    runs.push(events);
    return kept(provider.run(request), events);
  };
  return { provider: { ...provider, run }, runs };
}

function kept(source: AsyncIterable<SessionEvent>, events: SessionEvent[]) {
  return {
    [Symbol.asyncIterator]: (): AsyncIterator<SessionEvent> => {
      const iterator = source[Symbol.asyncIterator]();
      return {
        next: async () => {
          const next = await iterator.next();
          if (next.done !== true) events.push(next.value);
          return next;
        },
        return: async () => (await iterator.return?.()) ?? { done: true, value: undefined },
      };
    },
  };
}
