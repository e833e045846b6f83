import { realpath } from 'node:fs/promises';
import { basename, extname, isAbsolute, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { InputFile } from 'grammy';
import type { ApprovedMessage } from 'sluice/channel';

type Attachment = ApprovedMessage['attachments'][number];

/** How a file is sent: the method of the Bot API, and the field that holds it. */
export interface MediaForm {
  readonly method: `send${'Photo' | 'Audio' | 'Voice' | 'Video' | 'Animation' | 'Document'}`;
  readonly field: 'photo' | 'audio' | 'voice' | 'video' | 'animation' | 'document';
}

/** A file as the Bot API takes it, or why it is not sent. */
export type MediaSource =
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

/**
 * The place that an attachment is read from: by Telegram, by its id or an address on the web; by us only within the folders
 * that the settings name, since an agent can be talked into naming any file.
 */
export async function mediaSource(
  { id, url, path, name }: Attachment,
  mediaRoots: readonly string[],
): Promise<MediaSource> {
  if (url !== undefined && /^https?:\/\//i.test(url)) return { source: url };
  const file = path ?? (url?.startsWith('file://') === true ? fileURLToPath(url) : url);
  if (file === undefined)
    return id === undefined ? { problem: 'a file without id, address or path' } : { source: id };
  const real = await realpath(resolve(file)).catch(() => undefined);
  for (const root of real === undefined ? [] : mediaRoots) {
    const within = relative(await realpath(resolve(root)).catch(() => root), real ?? '');
    if (within !== '' && !within.startsWith('..') && !isAbsolute(within))
      return { source: new InputFile(real ?? '', name ?? basename(file)) };
  }
  return { problem: `the file ${basename(file)} does not lie in one of config.mediaRoots` };
}
