import type { MessageId } from '../send/port.js';

/** The note of a preview, so that it is found after a crash. */
export interface PreviewNote {
  readonly chatId: string | number;
  readonly messageId: MessageId;
  /** The address of its opening: the final may go elsewhere. */
  readonly place: string;
  /** Sends of the final have begun: which of them are out is not known. */
  readonly isSending?: true;
}

/** Reads a note. @returns nothing if the text is no note, for instance because another version wrote it. */
export function previewNoteOf(shown: unknown): PreviewNote | undefined {
  const { chatId, messageId, place, isSending } = Object(shown) as Partial<
    Record<keyof PreviewNote, unknown>
  >;
  if (!isId(chatId) || !isId(messageId) || typeof place !== 'string') return undefined;
  return { chatId, messageId, place, ...(isSending !== undefined && { isSending: true }) };
}

function isId(value: unknown): value is MessageId {
  return typeof value === 'string' || Number.isSafeInteger(value);
}
