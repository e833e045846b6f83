import type { SessionMessage } from './session-message.js';

/** A message as a transcript holds it: a role, a content, and further fields of its writer. */
export interface TranscriptEntry {
  readonly role: string;
  readonly content?: unknown;
  readonly [field: string]: unknown;
}

/** The size of a transcript, or of a part of one. */
export interface TranscriptSize {
  /** All of its messages. */
  readonly messages: number;
  /** The messages of people: each is the question of one turn. */
  readonly prompts: number;
}

/**
 * Returns whether a message of a transcript is the prompt of a turn: a turn begins with it.
 *
 * @example
 * const turns = transcript.filter(isPrompt).length;
 */
export function isPrompt({ role, content }: Pick<TranscriptEntry, 'role' | 'content'>): boolean {
  return role === 'user' && typeof content === 'string';
}

/**
 * Returns whether a message of a transcript has one of the shapes that agents here read. A handler of
 * `transcript.message.writing` may have written another; it stays in the transcript, and agents do not see it.
 *
 * @example
 * const history = transcript.filter(isSessionMessage);
 */
export function isSessionMessage(
  entry: TranscriptEntry,
): entry is TranscriptEntry & SessionMessage {
  switch (entry.role) {
    case 'user':
      return isPrompt(entry);
    case 'assistant':
      return Array.isArray(entry.content);
    case 'toolResult':
      return Array.isArray(entry.content) && typeof entry.toolCallId === 'string';
    default:
      return false;
  }
}
