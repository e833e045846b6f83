import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { ImportError } from './import-error.js';

/** The name of the journal in the folder that is written. */
export const journalFile = 'sluice.db';

/**
 * Writes a folder whole, or not at all: into a temporary folder beside it, which takes its place at the end. A folder that has the same
 * files is left as it is.
 *
 * @param addJournal makes the journal at a path; absent if there is none.
 * @returns whether something was written.
 * @throws ImportError `file-exists`; the reason of the signal.
 */
export async function writeFolder(
  out: string,
  files: ReadonlyMap<string, string | Uint8Array>,
  addJournal: ((path: string) => Promise<void>) | undefined,
  signal: AbortSignal,
): Promise<boolean> {
  const isEmpty = !existsSync(out) || readdirSync(out).length === 0;
  if (!isEmpty) {
    const other = [...files].find(
      ([file, content]) =>
        !existsSync(join(out, file)) || !Buffer.from(content).equals(readFileSync(join(out, file))),
    );
    const missing =
      other?.[0] ??
      (addJournal !== undefined && !existsSync(join(out, journalFile)) ? journalFile : undefined);
    if (missing === undefined) return false;
    throw new ImportError(
      'file-exists',
      `${basename(out)} is there already, and its ${missing} is not what this import would write`,
      'Nothing was written. Choose another folder by --out.',
    );
  }
  mkdirSync(dirname(out), { recursive: true });
  const made = mkdtempSync(join(dirname(out), '.sluice-import-'));
  try {
    for (const [file, content] of files) {
      signal.throwIfAborted();
      mkdirSync(dirname(join(made, file)), { recursive: true });
      writeFileSync(join(made, file), content);
    }
    await addJournal?.(join(made, journalFile));
    signal.throwIfAborted();
    if (existsSync(out)) rmdirSync(out);
    renameSync(made, out);
    return true;
  } finally {
    rmSync(made, { recursive: true, force: true });
  }
}
