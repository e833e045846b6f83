import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname } from 'node:path';

/** An installed copy of this package. */
export interface PackageCopy {
  /** Its folder, without links. */
  readonly folder: string;
  readonly version: string;
}

/** The key by which an extension tells the copy that defined it: the same in every copy. */
const mark = Symbol.for('sluice.copy');

/** The copy that this module belongs to. A program that was bundled into one file has no folder of the package. */
export const thisCopy: PackageCopy = (() => {
  try {
    const file = createRequire(import.meta.url).resolve('sluice/package.json');
    const { version } = JSON.parse(readFileSync(file, 'utf8')) as { version: string }; // our own file
    return { folder: dirname(file), version };
  } catch {
    return { folder: '', version: '0.0.0' };
  }
})();

/** Notes on an extension that this copy has defined it. */
export function markCopy(extension: object): void {
  Object.defineProperty(extension, mark, { value: thisCopy });
}

/** The copy that defined an extension, if it is another one than this. Nothing if the extension does not tell. */
export function otherCopyOf(extension: unknown): PackageCopy | undefined {
  const { [mark]: copy } = Object(extension) as { readonly [mark]?: Partial<PackageCopy> }; // a newer copy may note less
  const { folder = '', version = 'unknown' } = copy ?? {};
  return folder === '' || folder === thisCopy.folder ? undefined : { folder, version };
}

/**
 * The version of this package.
 *
 * @example
 * sluiceVersion(); // '0.1.0'
 */
export function sluiceVersion(): string {
  return thisCopy.version;
}
