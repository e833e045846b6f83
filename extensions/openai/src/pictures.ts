import { open } from 'node:fs/promises';
import type { PromptAttachment } from 'sluice/stream';
import { type ChatContent, imageOf } from './chat-messages.js';

/** Bytes of a picture that a prompt may bring. */
const maxBytes = 20_971_520;

/**
 * Splits what came with a prompt in pictures that the model can see and other files. A picture on disk goes along as its bytes; one
 * that is too large or cannot be read is a file as any other.
 */
export async function seen(attachments: readonly PromptAttachment[]) {
  const pictures: ChatContent[] = [];
  const files: PromptAttachment[] = [];
  for (const one of attachments) {
    const url = /^image\/(png|jpeg|gif|webp)$/.test(typeOf(one)) ? await addressOf(one) : undefined;
    if (url === undefined) files.push(one);
    else pictures.push(imageOf(url));
  }
  return { pictures, files };
}

function typeOf({ kind, mimeType, path, url, name }: PromptAttachment): string {
  if (mimeType !== undefined) return mimeType.toLowerCase();
  const [, ending = ''] = /\.(png|jpe?g|gif|webp)$/i.exec(path ?? name ?? url ?? '') ?? [];
  if (ending !== '') return `image/${ending.toLowerCase().replace('jpg', 'jpeg')}`;
  return kind === 'image' ? 'image/jpeg' : '';
}

async function addressOf(one: PromptAttachment): Promise<string | undefined> {
  const { path, url } = one;
  if (path === undefined) return url !== undefined && /^(https?|data):/.test(url) ? url : undefined;
  try {
    await using file = await open(path);
    const { size } = await file.stat();
    if (size > maxBytes) return undefined;
    return `data:${typeOf(one)};base64,${(await file.readFile()).toString('base64')}`;
  } catch {
    return undefined;
  }
}
