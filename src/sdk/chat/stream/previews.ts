import {
  type ChannelInbox,
  type ChannelPreviews,
  checkPermit,
  type SendResult,
} from '../../channel/index.js';
import { completeMessage } from './complete-message.js';
import { type PreviewNote, previewNoteOf } from './preview-note.js';
import { removeMessage, type ShownMessage } from './shown-message.js';
import type { StreamParts } from './stream-sender.js';

/** The parts that end the previews that a crash has left. */
export interface PreviewParts<Part> extends StreamParts<Part> {
  /** Knows the permits of the channel's host, once an account was started. */
  readonly inbox: () => Pick<ChannelInbox, 'owns'> | undefined;
}

/**
 * Ends what a crash has left of streamed replies, at a provider that edits and deletes messages by their ids, however
 * old.
 *
 * @example
 * previews: chatPreviews({ surface, clock, log, signal, inbox: () => inbox }),
 */
export function chatPreviews<Part>(parts: PreviewParts<Part>): ChannelPreviews {
  const { surface, clock, log } = parts;
  const messageAt = (
    { chatId, messageId }: PreviewNote,
    accountId: string,
  ): ShownMessage<Part> => ({
    ...{ port: surface.atChat(accountId, chatId), messageId, clock, log, signal: parts.signal },
  });

  return {
    takeBack: async (shown, accountId) => {
      const note = previewNoteOf(shown);
      if (note === undefined || note.isSending === true) return false;
      return removeMessage(messageAt(note, accountId));
    },

    complete: async (permit, { shown, noteShown }): Promise<SendResult> => {
      checkPermit(permit, parts.inbox());
      const message = permit.take();
      const note = previewNoteOf(shown);
      if (note === undefined || note.isSending === true)
        return { status: 'ambiguous', reason: 'nobody knows which parts of it are out' };
      const preview = messageAt(note, message.accountId);
      const port = surface.at(message);
      const isThere = 'place' in port && note.place === port.place;
      if (!isThere && !(await removeMessage(preview)))
        return { status: 'ambiguous', reason: 'it goes elsewhere, and its preview is still there' };
      return completeMessage(parts, message, {
        key: permit.idempotencyKey,
        shown: preview, // where it was removed, that is found out
        noteSending: () => noteShown({ ...note, isSending: true }),
      });
    },
  };
}
