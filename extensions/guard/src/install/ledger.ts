import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { z } from 'zod';
import { GuardError } from './settings-text.js';

const entrySchema = z.object({
  path: z.string(),
  /** The agent whose hooks stand there; none for a file of the guard's own. */
  agent: z.string().exactOptional(),
  /** The text before `init`, and its mode; null if there was no file. */
  before: z.string().nullable(),
  mode: z.number().exactOptional(),
  after: z.string(),
});

/** One file that `init` wrote. */
export type Entry = z.infer<typeof entrySchema>;

/** A text that a file is to have; null takes the file away. */
export interface Change {
  readonly path: string;
  readonly text: string | null;
  readonly mode?: number;
}

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
  const text = entries.length === 0 ? null : JSON.stringify(entries, undefined, 1);
  writeOne({ path: nameOf(folder), text, mode: 0o600 });
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

/** Writes all files, or none: what was written is taken back if one cannot be. */
export function writeAll(changes: readonly Change[]): void {
  const done: Change[] = [];
  for (const change of changes)
    try {
      const text = readText(change.path);
      done.unshift({
        path: change.path,
        text,
        ...(text !== null && { mode: modeOf(change.path) }),
      });
      writeOne(change);
    } catch (thrown) {
      for (const one of done) writeOne(one);
      const why = thrown instanceof Error ? thrown.message : String(thrown);
      throw new GuardError(`${change.path} cannot be written, so nothing was: ${why}`);
    }
}

/** The permissions of a file. */
export const modeOf = (path: string): number => statSync(path).mode & 0o777;

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

/** Writes by a rename, where a symbolic link leads to. The permissions stay if no others are given. */
function writeOne({ path, text, mode }: Change): void {
  const file = realFile(path);
  if (text === null) {
    rmSync(file, { force: true });
    return;
  }
  mkdirSync(dirname(file), { recursive: true });
  const left = mode ?? (existsSync(file) ? modeOf(file) : 0o644);
  const part = `${file}.${process.pid}.part`;
  writeFileSync(part, text, { mode: left });
  chmodSync(part, left);
  renameSync(part, file);
}

function realFile(path: string): string {
  if (existsSync(path)) return realpathSync(path);
  const isLink = lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true;
  return isLink ? resolve(dirname(path), readlinkSync(path)) : path;
}
