import { readFileSync, statSync } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import JSON5 from 'json5';
import { ImportError } from '../import-error.js';
import { isRecord } from './node.js';

/** A state folder of OpenClaw, with its config. */
export interface Source {
  /** The folder of `openclaw.json`. */
  readonly folder: string;
  readonly file: string;
  /** The config, with what it includes. */
  readonly config: Record<string, unknown>;
}

const deepestInclude = 10;

/**
 * Reads `openclaw.json` of a state folder: JSON5, with `$include`.
 *
 * @param path the folder or the file.
 * @throws ImportError, which names the file and the line.
 */
export function readSource(path: string): Source {
  const isFolder = statSync(path, { throwIfNoEntry: false })?.isDirectory();
  if (isFolder === undefined)
    throw new ImportError(
      'missing-file',
      `there is no ${basename(path)}`,
      'Name the state folder of OpenClaw, such as ~/.openclaw, or its openclaw.json.',
    );
  const file = isFolder ? join(path, 'openclaw.json') : path;
  if (isFolder && statSync(file, { throwIfNoEntry: false }) === undefined)
    throw new ImportError(
      'missing-file',
      `${basename(path)} is no state folder of OpenClaw: it has no openclaw.json`,
      'Name the folder that OPENCLAW_STATE_DIR names, or ~/.openclaw.',
    );
  const folder = dirname(file);
  const config = included(readJson5(file, folder), file, folder, [file]);
  if (!isRecord(config))
    throw new ImportError(
      'unreadable-file',
      `${basename(file)} holds no object`,
      'Name an openclaw.json.',
    );
  return { folder, file, config };
}

/**
 * Reads a file of JSON5.
 *
 * @throws ImportError `unreadable-file`, which names the file and the line.
 */
export function readJson5(file: string, folder: string): unknown {
  const name = relative(folder, file);
  try {
    return JSON5.parse(readFileSync(file, 'utf8'));
  } catch (thrown) {
    const { lineNumber, columnNumber } = thrown as { lineNumber?: number; columnNumber?: number }; // as json5 throws it
    const at = lineNumber === undefined ? '' : `:${lineNumber}:${columnNumber}`;
    const why =
      thrown instanceof Error
        ? thrown.message.replace(/^JSON5: /, '').replace(/ at \d+:\d+$/, '')
        : String(thrown);
    throw new ImportError(
      'unreadable-file',
      `${name}${at}: ${why.replaceAll(folder, '.')}`,
      'Mend the file, or take it away.',
    );
  }
}

/** Puts the files that `$include` names in its place. Keys beside it win, and need objects there. */
function included(value: unknown, file: string, root: string, above: readonly string[]): unknown {
  if (Array.isArray(value)) return value.map((one) => included(one, file, root, above));
  if (!isRecord(value)) return value;
  const { $include: named, ...own } = value;
  const refuse = (why: string): never => {
    throw new ImportError(
      'unreadable-file',
      `${relative(root, file)}: ${why}`,
      'Nothing was written: a part that is left out could hold a restriction.',
    );
  };
  if (Object.hasOwn(own, '__proto__')) refuse('"__proto__" is no key of a config');
  const rest = Object.fromEntries(
    Object.entries(own).map(([key, one]) => [key, included(one, file, root, above)]),
  );
  if (named === undefined) return rest;
  const parts = [named].flat().map((one: unknown) => {
    const at = resolve(dirname(file), String(one));
    const refuseThis = (why: string) => refuse(`"$include": ${JSON.stringify(one)} ${why}`);
    if (typeof one !== 'string') refuseThis('is no path');
    if (relative(root, at).startsWith('..')) refuseThis('leads out of the folder');
    if (above.includes(at)) refuseThis('includes itself');
    if (above.length > deepestInclude) refuseThis(`is nested deeper than ${deepestInclude} files`);
    return included(readJson5(at, root), at, root, [...above, at]);
  });
  const all = Object.keys(rest).length > 0 ? [...parts, rest] : parts;
  if (!all.every(isRecord) && !all.every(Array.isArray))
    refuse('what "$include" puts into one place is neither all objects nor all lists');
  return all.reduce((one, next) => merged(one, next));
}

/** Merges as `$include` does: objects by their keys, lists one behind the other, and else the later one. */
function merged(first: unknown, second: unknown): unknown {
  if (Array.isArray(first) && Array.isArray(second)) return [...first, ...second];
  if (!isRecord(first) || !isRecord(second)) return second;
  const own = Object.entries(second).map(([key, one]) => [
    key,
    Object.hasOwn(first, key) ? merged(first[key], one) : one,
  ]);
  return { ...first, ...Object.fromEntries(own) };
}
