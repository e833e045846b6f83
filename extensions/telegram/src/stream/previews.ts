import {
  type ChannelInbox,
  type ChannelPreviews,
  checkPermit,
  type SendResult,
} from 'sluice/channel';
import type { BotApi } from '../api/bot-api.js';
import { completeMessage } from './complete-message.js';
import { type PreviewNote, placeOfMessage, previewNoteOf } from './preview-note.js';
import { removeMessage, type ShownMessage } from './shown-message.js';
import type { StreamParts } from './stream-sender.js';

/** The parts that end the previews that a crash has left. */
export interface PreviewParts extends Omit<StreamParts, 'apiOf'> {
  /** The API of an account. @throws where it is not connected. */
  readonly apiOf: (accountId: string) => BotApi;
  /** Knows the permits of the channel's host, once an account was started. */
  readonly inbox: () => Pick<ChannelInbox, 'owns'> | undefined;
}

/** Ends what a crash has left of streamed replies: Telegram edits and deletes messages by their ids, however old. */
export function telegramPreviews({ apiOf, inbox, ...parts }: PreviewParts): ChannelPreviews {
  const { clock, log, config, signal } = parts;
  const messageAt = ({ chatId, messageId }: PreviewNote, api: BotApi): ShownMessage => ({
    ...{ api, target: { chat_id: chatId }, messageId, clock, log, signal },
  });

  return {
    takeBack: async (shown, accountId) => {
      const note = previewNoteOf(shown);
      if (note === undefined || note.isSending === true) return false;
      return removeMessage(messageAt(note, apiOf(accountId)));
    },

    complete: async (permit, { shown, noteShown }): Promise<SendResult> => {
      checkPermit(permit, inbox());
      const message = permit.take();
      const note = previewNoteOf(shown);
      if (note === undefined || note.isSending === true)
        return { status: 'ambiguous', reason: 'nobody knows which parts of it are out' };
      const api = apiOf(message.accountId);
      const preview = messageAt(note, api);
      const isThere = note.place === placeOfMessage(message);
      if (!isThere && !(await removeMessage(preview)))
        return { status: 'ambiguous', reason: 'it goes elsewhere, and its preview is still there' };
      return completeMessage({ api, clock, config, signal }, message, {
        shown: preview, // where it was removed, that is found out
        noteSending: () => noteShown({ ...note, isSending: true }),
      });
    },
  };
}
