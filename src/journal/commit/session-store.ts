import { isPrompt, type TranscriptEntry, type TranscriptSize } from '@sluice/sdk/stream';
import { journalError } from '../errors.js';
import { checkedFence, type SessionWrite } from '../fence.js';
import type { JournalTransaction, SessionChanges } from '../journal-changes.js';
import { type CleanText, cleanBody } from '../rows/clean-body.js';
import { transcriptsTable } from '../rows/journal-rows.js';
import type { SessionRecord, Store, TranscriptPart } from '../store.js';
import type { CommitQueue } from './commit-queue.js';
import type { openTranscripts } from './open-transcripts.js';

/** A message as it is in the database: its JSON, and the size of its transcript up to it. */
export interface KeptMessage extends TranscriptSize {
  readonly body: string;
}

/** The sessions and transcripts of a database, as they are read. Each body is JSON, as it was written. */
export interface SessionReader {
  /** The session under a key. */
  session(sessionKey: string): Promise<string | undefined>;
  /** A transcript or a part of it, oldest first. */
  transcript(sessionId: string, part?: TranscriptPart): Promise<readonly TranscriptEntry[]>;
  size(sessionId: string): Promise<TranscriptSize>;
  /** Drops most of what a session replaces before it is saved. @param write runs a part of it in a transaction. */
  replacing?(
    sessionKey: string,
    sessionId: string,
    write: <T>(drop: () => T) => Promise<T>,
  ): Promise<void>;
}

/** Makes the sessions and transcripts of a journal. Nobody reads a session before what waits of it is written. */
export function sessionStore<At extends Pick<JournalTransaction, 'sessions'>>(
  commits: CommitQueue<At>,
  reader: SessionReader,
  clean: CleanText,
  open?: ReturnType<typeof openTranscripts>,
): Store {
  /** The last write that waits, by the session that it belongs to: its id, or its key. */
  const waiting = new Map<string, Promise<void>>();
  /** @param told hears what the change returned, before those go on that wait for the write. */
  const write = async (
    of: string,
    change: (sessions: SessionChanges) => void,
    { fence, mayWait }: SessionWrite,
  ): Promise<void> => {
    const run = ({ sessions }: At): void => {
      checkedFence(fence); // by now the transaction may have ended it
      change(sessions);
    };
    checkedFence(fence);
    const persisted = mayWait === true ? commits.later(run) : commits.write(run);
    waiting.set(of, persisted);
    try {
      await persisted;
    } finally {
      if (waiting.get(of) === persisted) waiting.delete(of);
    }
  };
  /** Has what waits of a session written, because it is read now. Its writer learns if that fails. */
  const written = async (of: string): Promise<void> => {
    const last = waiting.get(of);
    if (last === undefined) return;
    commits.hurry();
    await last.catch(() => undefined);
  };
  return {
    hurry: () => commits.hurry(),
    loadSession: async (sessionKey) => {
      await written(sessionKey);
      const body = await reader.session(sessionKey);
      return body === undefined ? undefined : storedJson(body, isSession);
    },
    saveSession: async (record, how) => {
      const { sessionKey, sessionId } = record;
      const body = JSON.stringify(record);
      open?.saving(record, how.fence);
      await reader.replacing?.(sessionKey, sessionId, (drop) => commits.write(drop));
      await write(sessionKey, (sessions) => sessions.save(sessionKey, sessionId, body), how);
    },
    appendMessage: async (sessionId, message, how) => {
      const body = cleanBody(transcriptsTable.name, JSON.stringify(message), clean);
      const kept = open === undefined ? body : open.adding(sessionId, body, how.fence);
      await write(
        sessionId,
        (sessions) => sessions.append(sessionId, isPrompt(message), kept),
        how,
      );
    },
    readTranscript: async (sessionId, part) => {
      await written(sessionId);
      return reader.transcript(sessionId, part);
    },
    transcriptSize: async (sessionId) => {
      await written(sessionId);
      return reader.size(sessionId);
    },
  };
}

/** Reads a message of a transcript. @throws SluiceError `database-damaged` if it is none. */
export const storedEntry = (body: string): TranscriptEntry => storedJson(body, isEntry);

function storedJson<Value>(body: string, is: (value: object) => value is object & Value): Value {
  const value: object = Object(JSON.parse(body));
  if (is(value)) return value;
  throw journalError('database-damaged', { path: 'of a session', problem: 'a body is no record' });
}

function isEntry(value: { readonly role?: unknown }): value is TranscriptEntry {
  return typeof value.role === 'string';
}

function isSession(
  value: { readonly [Field in keyof SessionRecord]?: unknown },
): value is SessionRecord {
  return typeof value.sessionKey === 'string' && typeof value.sessionId === 'string';
}
