import type { TranscriptEntry } from '../stream/index.js';

/** What a host keeps of a session beside its transcript. Plain data. */
export interface SessionRecord {
  /** Lasting: a reset keeps it. */
  readonly sessionKey: string;
  /** A reset makes a new one. */
  readonly sessionId: string;
  readonly agentId: string;
  /** When its first message came, in milliseconds since 1970; absent until then. */
  readonly startedAtMs?: number;
  /** The session before it under the same key. */
  readonly resumedFrom?: string;
  /** What `session.starting` has bound to it. */
  readonly context: Readonly<Record<string, unknown>>;
  readonly memoryKeys: readonly string[];
  readonly metadata: Readonly<Record<string, unknown>>;
}

/**
 * Where a host keeps its sessions. A rejection is never swallowed: the message at hand fails visibly. Calls for
 * one session do not overlap; calls for different sessions may.
 */
export interface Store {
  /** The newest session under a key. */
  loadSession(sessionKey: string): Promise<SessionRecord | undefined>;
  /** Keeps a session, in place of what was kept under its key. */
  saveSession(record: SessionRecord): Promise<void>;
  /** Adds to a transcript: exactly what `transcript.message.writing` passed, in the order of the calls. */
  appendMessage(sessionId: string, message: TranscriptEntry): Promise<void>;
  /** A transcript, oldest first; empty where nothing was written. */
  readTranscript(sessionId: string): Promise<readonly TranscriptEntry[]>;
  /** Lets go of what it holds. */
  close?(): Promise<void>;
}

/**
 * A store in memory: gone with the process.
 *
 * @example
 * const host = createHost({ agents, channels, store: memoryStore() });
 */
export function memoryStore(): Store {
  const sessions = new Map<string, SessionRecord>();
  const transcripts = new Map<string, TranscriptEntry[]>();
  return {
    loadSession: async (sessionKey) => sessions.get(sessionKey),
    saveSession: async (record) => {
      const before = sessions.get(record.sessionKey);
      if (before !== undefined && before.sessionId !== record.sessionId)
        transcripts.delete(before.sessionId);
      sessions.set(record.sessionKey, record);
    },
    appendMessage: async (sessionId, message) => {
      const transcript = transcripts.get(sessionId);
      if (transcript === undefined) transcripts.set(sessionId, [message]);
      else transcript.push(message);
    },
    readTranscript: async (sessionId) => [...(transcripts.get(sessionId) ?? [])],
  };
}
