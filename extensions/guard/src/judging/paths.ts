import { lstatSync, readlinkSync, realpathSync } from 'node:fs';
import { basename, dirname, isAbsolute, join, parse, resolve, sep } from 'node:path';
import process from 'node:process';
import { HookInputError } from '../agents/codec.js';

/** Characters that a path may have: more than any file system takes. */
const longestPath = 4_096;
/** Symbolic links that lead to each other, one after the other. */
const hopsAtMost = 40;

/**
 * The one true name of a file that an agent names: absolute, without `..`, with symbolic links followed as far as the path exists,
 * in the case that the file system has, in the normal form NFC.
 *
 * @throws HookInputError if the path cannot be read for certain.
 */
export function realPath(written: string, workspaceDir: string): string {
  if (written === '' || written.length > longestPath)
    throw new HookInputError(`a path must have 1 to ${longestPath} characters`);
  if (/[\p{Cc}\p{Cs}\p{Bidi_Control}]/u.test(written))
    throw new HookInputError('a path has a NUL, a control character or half a character');
  if (!isAbsolute(workspaceDir))
    throw new HookInputError('the folder that the agent works in must be an absolute path');
  if (/^~[a-z_]/i.test(written))
    throw new HookInputError('a path names the home of a user: write the folder in full');
  const expanded = /^~(?=$|\/)/.test(written) ? join(home(), written.slice(1)) : written;
  try {
    const real = followed(resolve(workspaceDir, expanded), 0);
    // After a link, `..` is the folder above its target; a program that resolves `..` first goes elsewhere.
    if (/(^|[/\\])\.\.([/\\]|$)/.test(expanded) && stepByStep(expanded, workspaceDir) !== real)
      throw new HookInputError('a path has ".." after a symbolic link: write it without');
    return real.normalize('NFC');
  } catch (thrown) {
    if (thrown instanceof HookInputError) throw thrown;
    throw new HookInputError(`a path cannot be followed: ${codeOf(thrown)}`);
  }
}

function home(): string {
  const folder = process.env['HOME'] ?? process.env['USERPROFILE'];
  if (folder === undefined)
    throw new HookInputError('a path starts with "~", and the user has no home');
  return folder;
}

/** Follows links in the part of a path that exists, and the link that its last existing name may be, with no file behind it. */
function followed(path: string, hops: number): string {
  if (hops > hopsAtMost) throw new HookInputError('a path goes over too many symbolic links');
  try {
    return realpathSync.native(path);
  } catch (thrown) {
    if (codeOf(thrown) !== 'ENOENT' && codeOf(thrown) !== 'ENOTDIR') throw thrown;
  }
  const parent = dirname(path);
  if (parent === path) return path;
  if (lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true)
    return followed(resolve(followed(parent, hops), readlinkSync(path)), hops + 1);
  return join(followed(parent, hops), basename(path));
}

/** Goes a path name by name, as the operating system does. */
function stepByStep(path: string, workspaceDir: string): string {
  const { root } = parse(path);
  let at = followed(root === '' ? workspaceDir : root, 0);
  for (const name of path.slice(root.length).split(sep === '/' ? sep : /[/\\]/)) {
    if (name === '..') at = dirname(at);
    else if (name !== '' && name !== '.') at = followed(join(at, name), 0);
  }
  return at;
}

function codeOf(thrown: unknown): string {
  return (thrown as NodeJS.ErrnoException).code ?? 'unknown'; // a read of code that may be absent
}
