import { isPrompt, type TranscriptEntry, type TranscriptSize } from '@sluice/sdk/stream';
import { getOrMake } from 'sluice-kernel/internal';
import type { SessionWrite } from './fence.js';

/** The record of a session beside its transcript. Plain data. */
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
  /** The values that `session.starting` has bound to it. */
  readonly context: Readonly<Record<string, unknown>>;
  readonly memoryKeys: readonly string[];
  readonly metadata: Readonly<Record<string, unknown>>;
  /** The texts that agent providers keep with it, by their ids: they mean something to them alone. */
  readonly providerSessions?: Readonly<Record<string, string>>;
  /** The last message whose turn has begun, by the event that began it, and the size of the transcript before that turn. */
  readonly lastTurn?: { readonly correlationId: string; readonly before: TranscriptSize };
}

/** A part of a transcript, counted from its end. */
export interface TranscriptPart {
  /** The most messages that are read. */
  readonly last: number;
  /** How many of the newest are passed over first; by default none. */
  readonly skip?: number;
}

/**
 * The store in which a host keeps its sessions. A rejection is never swallowed: the message at hand fails visibly. Calls for one
 * session do not overlap, unless the store has `hurry` and the one before `mayWait`; calls for different sessions may. A write has
 * resolved when it is persisted. A reading sees all writes that were asked for before it.
 */
export interface Store {
  /** The newest session under a key. */
  loadSession(sessionKey: string): Promise<SessionRecord | undefined>;
  /** Keeps a session, in place of the one that was under its key. */
  saveSession(record: SessionRecord, how: SessionWrite): Promise<void>;
  /** Adds to a transcript: exactly what `transcript.message.writing` passed, in the order of the calls. */
  appendMessage(sessionId: string, message: TranscriptEntry, how: SessionWrite): Promise<void>;
  /** Has the writes that may wait kept now. Absent in a store where none waits. */
  hurry?(): void;
  /**
   * A transcript, oldest first; empty where nothing was written. A part of it costs what it holds, however long the
   * transcript is.
   */
  readTranscript(sessionId: string, part?: TranscriptPart): Promise<readonly TranscriptEntry[]>;
  /** How much a transcript holds. It costs the same, however much that is. */
  transcriptSize(sessionId: string): Promise<TranscriptSize>;
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
  const transcripts = new Map<string, { readonly entries: TranscriptEntry[]; prompts: number }>();
  return {
    loadSession: async (sessionKey) => sessions.get(sessionKey),
    saveSession: async (record) => {
      const before = sessions.get(record.sessionKey);
      if (before !== undefined && before.sessionId !== record.sessionId)
        transcripts.delete(before.sessionId);
      sessions.set(record.sessionKey, record);
    },
    appendMessage: async (sessionId, message) => {
      const kept = getOrMake(transcripts, sessionId, () => ({ entries: [], prompts: 0 }));
      kept.entries.push(message);
      if (isPrompt(message)) kept.prompts++;
    },
    readTranscript: async (sessionId, part) => {
      const entries = transcripts.get(sessionId)?.entries ?? [];
      if (part === undefined) return [...entries];
      const end = Math.max(0, entries.length - (part.skip ?? 0));
      return entries.slice(Math.max(0, end - part.last), end);
    },
    transcriptSize: async (sessionId) => {
      const { entries = [], prompts = 0 } = transcripts.get(sessionId) ?? {};
      return { messages: entries.length, prompts };
    },
  };
}
