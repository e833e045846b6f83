import type { SessionMessage } from './session-message.js';

/** A message as a transcript holds it: a role, a content, and whatever its writer keeps beside them. */
export interface TranscriptEntry {
  readonly role: string;
  readonly content?: unknown;
  readonly [field: string]: unknown;
}

/**
 * Whether a message of a transcript has one of the shapes that agents here read. A handler of
 * `transcript.message.writing` may have written another; it stays in the transcript, and agents do not see it.
 */
export function isSessionMessage(
  entry: TranscriptEntry,
): entry is TranscriptEntry & SessionMessage {
  switch (entry.role) {
    case 'user':
      return typeof entry.content === 'string';
    case 'assistant':
      return Array.isArray(entry.content);
    case 'toolResult':
      return Array.isArray(entry.content) && typeof entry.toolCallId === 'string';
    default:
      return false;
  }
}
