import type { ApprovedMessage } from 'sluice/channel';
import { targetOf } from '../egress/target.js';

/** The note of a preview, so that it is found after a crash. */
export interface PreviewNote {
  readonly chatId: number | string;
  readonly messageId: number;
  /** The address of its opening: the final may go elsewhere. */
  readonly place: string;
  /** Sends of the final have begun: which of them are out is not known. */
  readonly isSending?: true;
}

/** The address of a message and the message that it answers, as one text. */
export function placeOfMessage(message: ApprovedMessage): string {
  return JSON.stringify([targetOf(message) ?? message.to, message.replyToId ?? null]);
}

/** Reads a note. @returns nothing if the text is no note, for instance because another version wrote it. */
export function previewNoteOf(shown: unknown): PreviewNote | undefined {
  const { chatId, messageId, place, isSending } = Object(shown) as Partial<
    Record<keyof PreviewNote, unknown>
  >;
  const isChat = typeof chatId === 'string' || Number.isSafeInteger(chatId);
  if (!isChat || !Number.isSafeInteger(messageId) || typeof place !== 'string') return undefined;
  return {
    chatId: chatId as PreviewNote['chatId'], // checked above
    messageId: Number(messageId),
    place,
    ...(isSending !== undefined && { isSending: true }),
  };
}
