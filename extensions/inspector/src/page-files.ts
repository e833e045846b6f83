import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';

/** A file of the page, as it goes out. */
export interface PageFile {
  readonly type: string;
  readonly plain: Buffer;
  readonly packed: Buffer;
}

const types: Readonly<Record<string, string>> = {
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
};

/** Reads the files of the page, by their paths on the server. Nothing else of the disk can be asked for. */
export function pageFiles(): ReadonlyMap<string, PageFile> {
  const built = fileURLToPath(new URL('../dist/', import.meta.url)); // from the source as from the build
  const files = new Map<string, PageFile>();
  for (const folder of ['page', 'vendor'])
    for (const name of readdirSync(`${built}${folder}`)) {
      const type = types[name.slice(name.lastIndexOf('.') + 1)];
      if (type === undefined) continue;
      const plain = readFileSync(`${built}${folder}/${name}`);
      const file = { type, plain, packed: gzipSync(plain) };
      files.set(name === 'index.html' ? '/' : `/${folder}/${name}`, file);
    }
  return files;
}
