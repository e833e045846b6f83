import type { Message } from 'grammy/types';
import type { InboundMessage } from 'sluice/channel';

type Attachment = InboundMessage['attachments'][number];

/** The content of a message, or of one that it answers. */
export type Content = Partial<Omit<Message, 'reply_to_message'>>;

/** A file as Telegram tells of it. */
interface TelegramFile {
  readonly file_id: string;
  readonly file_size?: number;
  readonly file_name?: string;
  readonly mime_type?: string;
  readonly duration?: number;
}

/**
 * The files of a message, by their ids: a link to one would hold the bot's token. Of a photo the largest size.
 */
export function attachmentsOf(message: Content): Attachment[] {
  const { photo, document, audio, voice, video, video_note: note, animation, sticker } = message;
  const largest = photo?.toSorted((a, b) => b.width * b.height - a.width * a.height)[0];
  const found: [Attachment['kind'], TelegramFile | undefined, Partial<Attachment>?][] = [
    ['image', largest],
    ['audio', audio],
    ['audio', voice, { asVoice: true }],
    ['video', video],
    ['video', note],
    ['video', animation, { asAnimation: true }],
    // Telegram sends an animation as a document as well
    ['document', animation === undefined ? document : undefined],
    ['image', sticker],
  ];
  return found.flatMap(([kind, file, more]) =>
    file === undefined ? [] : [{ ...attachmentOf(kind, file, message.caption), ...more }],
  );
}

function attachmentOf(
  kind: Attachment['kind'],
  file: TelegramFile,
  caption: string | undefined,
): Attachment {
  return {
    kind,
    id: file.file_id,
    ...(file.file_name !== undefined && { name: file.file_name }),
    ...(file.mime_type !== undefined && { mimeType: file.mime_type }),
    ...(file.file_size !== undefined && { sizeBytes: file.file_size }),
    ...(file.duration !== undefined && { durationMs: file.duration * 1_000 }),
    ...(caption !== undefined && { caption }),
  };
}
