import {
  chmodSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { GuardError } from './settings-text.js';

const entrySchema = z.object({
  path: z.string(),
  /** The agent whose hooks stand there; none for a file of the guard's own. */
  agent: z.string().exactOptional(),
  /** The text before `init`; null if there was no file. */
  before: z.string().nullable(),
  after: z.string(),
});

/** One file that `init` wrote. */
export type Entry = z.infer<typeof entrySchema>;

const nameOf = (folder: string): string => join(folder, 'installed.json');

/** The files that `init` wrote, as the folder of a guard has noted them. */
export function readLedger(folder: string): readonly Entry[] {
  const text = readText(nameOf(folder));
  if (text === null) return [];
  try {
    return z.array(entrySchema).parse(JSON.parse(text));
  } catch {
    throw new GuardError(
      `${nameOf(folder)} cannot be read: delete it, and run \`sluice guard init\``,
    );
  }
}

/** Notes the files before they are written, so that each of them can be taken back after a crash. */
export function writeLedger(folder: string, entries: readonly Entry[]): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  writeFileSync(nameOf(folder), JSON.stringify(entries, undefined, 1), { mode: 0o600 });
}

/**
 * The text of a file; null if there is none.
 *
 * @throws GuardError if it cannot be read, or is not UTF-8: its bytes would not stay.
 */
export function readText(path: string): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(readFileSync(path));
  } catch (thrown) {
    const { code } = thrown as NodeJS.ErrnoException; // a failed read, or a failed decoding
    if (code === 'ENOENT') return null;
    const why = thrown instanceof TypeError ? 'it is not UTF-8' : code;
    throw new GuardError(`${path} cannot be read: ${why}`);
  }
}

/**
 * Writes a text where a symbolic link leads to, with the permissions that the file has: whole, or not at all. Null takes the file
 * away.
 */
export function writeText(path: string, text: string | null): void {
  try {
    if (text === null) rmSync(path, { force: true });
    else {
      mkdirSync(dirname(path), { recursive: true });
      const found = statSync(path, { throwIfNoEntry: false });
      if (found === undefined) writeFileSync(path, text);
      else {
        const target = realpathSync(path);
        const next = `${target}.sluice-${process.pid}`;
        writeFileSync(next, text, { mode: 0o600 });
        chmodSync(next, found.mode);
        renameSync(next, target);
      }
    }
  } catch (thrown) {
    const { code } = thrown as NodeJS.ErrnoException; // a failed call of the file system
    throw new GuardError(
      `${path} cannot be written: ${code}; \`sluice guard remove\` takes the others back`,
    );
  }
}

/** Takes the folder of a file away, and those above it up to a root, as far as they are empty. */
export function removeEmpty(path: string, roots: readonly string[]): void {
  const folder = dirname(path);
  if (roots.includes(folder) || folder === path) return;
  try {
    rmdirSync(folder);
  } catch {
    return; // it is in use
  }
  removeEmpty(folder, roots);
}
