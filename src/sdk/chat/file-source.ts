import { realpath } from 'node:fs/promises';
import { basename, isAbsolute, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ApprovedMessage } from '../channel/index.js';

/** The place that a file is read from, or why it is not sent. */
export type FileSource =
  | { readonly kind: 'id'; readonly id: string }
  | { readonly kind: 'url'; readonly url: string }
  | { readonly kind: 'file'; readonly path: string; readonly name: string }
  | { readonly kind: 'problem'; readonly problem: string };

/**
 * The place that an attachment is read from: by the provider, by its id or an address on the web; by us only within the
 * folders that the settings name, since an agent can be talked into naming any file.
 *
 * @example
 * const source = await fileSource(attachment, config.mediaRoots);
 * if (source.kind === 'problem') return { status: 'rejected', reason: source.problem };
 */
export async function fileSource(
  { id, url, path, name }: ApprovedMessage['attachments'][number],
  mediaRoots: readonly string[],
): Promise<FileSource> {
  if (url !== undefined && /^https?:\/\//i.test(url)) return { kind: 'url', url };
  const file = path ?? (url?.startsWith('file://') === true ? fileURLToPath(url) : url);
  if (file === undefined)
    return id === undefined
      ? { kind: 'problem', problem: 'a file without id, address or path' }
      : { kind: 'id', id };
  const real = await realpath(resolve(file)).catch(() => undefined);
  for (const root of real === undefined ? [] : mediaRoots) {
    const within = relative(await realpath(resolve(root)).catch(() => root), real ?? '');
    if (within !== '' && !within.startsWith('..') && !isAbsolute(within))
      return { kind: 'file', path: real ?? '', name: name ?? basename(file) };
  }
  const problem = `the file ${basename(file)} does not lie in one of config.mediaRoots`;
  return { kind: 'problem', problem };
}
