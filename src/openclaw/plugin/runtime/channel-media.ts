import { randomUUID } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { basename, extname, join } from 'node:path';
import { definedFields } from 'sluice-kernel/internal';
import { textOf } from '../channel/settings.js';
import { detectMime, endingOf } from './mime.js';
import { fromWeb, usualMaxBytes } from './web-media.js';

/** The bytes of one file that is kept, if the caller names no other bound. */
const usualBytes = 5 * 1_048_576;

interface Fetching extends Partial<Parameters<typeof fromWeb>[2]> {
  readonly url: string;
  readonly maxBytes?: number;
  readonly filePathHint?: string;
}

/** `channel.media`: reads a file that a message names, and keeps one. @param stateDir the plugin's: files go to `media` in it. */
export function channelMedia(stateDir: string) {
  const fetchRemoteMedia = async ({ url, maxBytes = usualMaxBytes, ...how }: Fetching) => {
    const { buffer, contentType, fileName } = await fromWeb(new URL(url), maxBytes, how);
    const hinted = basename(how.filePathHint ?? '') || undefined;
    return { buffer, ...definedFields({ contentType, fileName: hinted ?? fileName }) };
  };
  const saveMediaBuffer = async (
    buffer: Buffer,
    contentType?: string,
    subfolder = 'inbound',
    maxBytes = usualBytes,
    originalFilename?: string,
  ) => {
    if (buffer.byteLength > maxBytes) throw new Error(`a file is larger than ${maxBytes} bytes`);
    const folder = join(stateDir, 'media', basename(subfolder));
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const name = textOf(originalFilename) ?? '';
    const type = await detectMime({ buffer, filePath: name, headerMime: contentType ?? null });
    const stem = basename(name, extname(name))
      .replaceAll(/[^\w-]+/g, '_')
      .slice(0, 60);
    const ending =
      endingOf(type) ??
      extname(name)
        .replaceAll(/[^.\w]/g, '')
        .slice(0, 10);
    const id = `${stem === '' ? '' : `${stem}---`}${randomUUID()}${ending}`;
    await writeFile(join(folder, id), buffer, { mode: 0o600 });
    return { id, path: join(folder, id), size: buffer.byteLength, contentType: type };
  };
  return {
    fetchRemoteMedia,
    readRemoteMediaBuffer: fetchRemoteMedia,
    saveMediaBuffer,
    saveRemoteMedia: async ({ maxBytes = usualMaxBytes, ...given }: Fetching) => {
      const { buffer, contentType, fileName } = await fetchRemoteMedia({ ...given, maxBytes });
      return saveMediaBuffer(buffer, contentType, undefined, maxBytes, fileName);
    },
  };
}
