import { extname } from 'node:path';
import { InputFile } from 'grammy';
import type { ApprovedMessage } from 'sluice/channel';
import { fileSource } from 'sluice/chat';

type Attachment = ApprovedMessage['attachments'][number];

/** How a file is sent: the method of the Bot API, and the field that holds it. */
export interface MediaForm {
  readonly method: `send${'Photo' | 'Audio' | 'Voice' | 'Video' | 'Animation' | 'Document'}`;
  readonly field: 'photo' | 'audio' | 'voice' | 'video' | 'animation' | 'document';
}

/** A file as the Bot API takes it, or why it is not sent. */
type MediaSource =
  | { readonly source: string | InputFile; readonly problem?: undefined }
  | { readonly source?: undefined; readonly problem: string };

const forms = {
  image: { method: 'sendPhoto', field: 'photo' },
  audio: { method: 'sendAudio', field: 'audio' },
  voice: { method: 'sendVoice', field: 'voice' },
  video: { method: 'sendVideo', field: 'video' },
  animation: { method: 'sendAnimation', field: 'animation' },
  document: { method: 'sendDocument', field: 'document' },
} as const satisfies Record<string, MediaForm>;

const kindOfExtension: Readonly<Record<string, keyof typeof forms>> = {
  '.jpg': 'image',
  '.jpeg': 'image',
  '.png': 'image',
  '.webp': 'image',
  '.gif': 'animation',
  '.mp4': 'video',
  '.mov': 'video',
  '.mp3': 'audio',
  '.m4a': 'audio',
  '.ogg': 'voice',
};

/** How an attachment is sent. What says of itself only that it is a file goes by the end of its name. */
export function mediaForm({ kind, asVoice, asAnimation, name, url, path }: Attachment): MediaForm {
  if (asVoice === true) return forms.voice;
  if (asAnimation === true) return forms.animation;
  if (kind !== 'other') return forms[kind];
  const file = name ?? path ?? url?.split(/[?#]/)[0] ?? '';
  return forms[kindOfExtension[extname(file).toLowerCase()] ?? 'document'];
}

/** An attachment as Telegram takes it: by its id, by an address on the web, or as a file of ours. */
export async function mediaSource(
  attachment: Attachment,
  mediaRoots: readonly string[],
): Promise<MediaSource> {
  const found = await fileSource(attachment, mediaRoots);
  if (found.kind === 'problem') return { problem: found.problem };
  if (found.kind === 'file') return { source: new InputFile(found.path, found.name) };
  return { source: found.kind === 'url' ? found.url : found.id };
}
