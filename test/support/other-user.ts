import { chownSync, mkdtempSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

const nobody = 65_534;

/** The unprivileged user that tests of root become. Nothing if they run as an ordinary user, who stays as it is. */
export const asUser = process.getuid?.() === 0 ? { uid: nobody, gid: nobody } : undefined;

/**
 * Makes a folder that this user owns and may enter. A clone, a home or a folder of temporary files may lie below one of mode 700:
 * whatever the user needs is put into this folder, or loaded before.
 */
export function folderOfUser(prefix: string): string {
  const places = [tmpdir(), '/tmp', '/var/tmp'];
  const place = asUser === undefined ? tmpdir() : places.find(isOpen);
  if (place === undefined) throw new Error(`another user may enter none of ${places.join(', ')}`);
  const folder = mkdtempSync(join(place, prefix));
  if (asUser !== undefined) chownSync(folder, asUser.uid, asUser.gid);
  return folder;
}

/** If every user may enter a folder, and so all above it. */
function isOpen(folder: string): boolean {
  const { mode } = statSync(folder, { throwIfNoEntry: false }) ?? { mode: 0 };
  return (mode & 0o001) !== 0 && (dirname(folder) === folder || isOpen(dirname(folder)));
}
