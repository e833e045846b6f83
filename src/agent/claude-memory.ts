import { type AgentRequest, isPrompt, Recent, type SessionMessage } from '../stream/index.js';

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
  /** How many prompts of the transcript it has heard, from its first on. */
  readonly heard: number;
}

type Turn = Pick<AgentRequest, 'sessionId' | 'history' | 'beforeHistory'>;

/**
 * Which of the SDK's own sessions goes on with which session of ours. In memory: after a restart, and for a session
 * that was forgotten, the history takes its place.
 */
export class ClaudeMemory {
  readonly #sessions = new Recent<string, Remembered>(maxSessions);

  recall(turn: Turn): Recalled {
    const known = this.#sessions.get(turn.sessionId);
    if (known === undefined) return { unheard: turn.history };
    return { resume: known.claudeSession, unheard: after(known.heard, turn) };
  }

  /** Notes which session of the SDK a turn runs in. */
  remember({ sessionId, history, beforeHistory }: Turn, claudeSession: string): void {
    const before = beforeHistory?.prompts ?? 0;
    const heard = before + history.filter(isPrompt).length + 1;
    this.#sessions.set(sessionId, { claudeSession, heard });
  }

  /** Drops a session that the SDK does not find any more. */
  forget({ sessionId }: Turn): void {
    this.#sessions.delete(sessionId);
  }
}

/** What follows the turns that were heard, and what was cut off in the last of them: the SDK drops that. */
function after(heard: number, { history, beforeHistory }: Turn): readonly SessionMessage[] {
  let turns = beforeHistory?.prompts ?? 0;
  return history.filter((message) => {
    if (isPrompt(message)) turns++;
    const isCutOff = message.role === 'assistant' && message.stopReason === 'aborted';
    return turns > heard || (turns === heard && isCutOff);
  });
}
