import { type AgentRequest, Recent, type SessionMessage } from '../stream/index.js';

/** How many sessions are remembered; one that is forgotten is told its history. */
const maxSessions = 1_000;

/** What Claude knows of a session when a turn begins. */
export interface Recalled {
  /** Its own session, to be resumed. */
  readonly resume?: string;
  /** What it has not heard: everything, or what another provider has answered meanwhile. */
  readonly unheard: readonly SessionMessage[];
}

interface Remembered {
  readonly claudeSession: string;
  /** How many messages of people it has heard. */
  readonly heard: number;
}

type Turn = Pick<AgentRequest, 'sessionId' | 'history'>;

/**
 * Which of the SDK's own sessions goes on with which session of ours. In memory: after a restart, and for a session
 * that was forgotten, the history takes its place.
 */
export class ClaudeMemory {
  readonly #sessions = new Recent<string, Remembered>(maxSessions);

  recall({ sessionId, history }: Turn): Recalled {
    const known = this.#sessions.get(sessionId);
    if (known === undefined) return { unheard: history };
    return { resume: known.claudeSession, unheard: after(known.heard, history) };
  }

  /** Notes which session of the SDK a turn runs in. */
  remember({ sessionId, history }: Turn, claudeSession: string): void {
    this.#sessions.set(sessionId, { claudeSession, heard: people(history) + 1 });
  }

  /** Drops a session that the SDK does not find any more. */
  forget({ sessionId }: Turn): void {
    this.#sessions.delete(sessionId);
  }
}

/** What follows the turns that were heard, and what was cut off in the last of them: the SDK drops that. */
function after(heard: number, history: readonly SessionMessage[]): readonly SessionMessage[] {
  let turns = 0;
  return history.filter((message) => {
    if (message.role === 'user') turns++;
    const isCutOff = message.role === 'assistant' && message.stopReason === 'aborted';
    return turns > heard || (turns === heard && isCutOff);
  });
}

function people(history: readonly SessionMessage[]): number {
  return history.filter(({ role }) => role === 'user').length;
}
