import { existsSync, readFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { thisCopy } from '@sluice/sdk/extension/internal';
import { asWord } from '../shell/text.js';

/**
 * Names a package, such as this one, for a package.json, so that `npm install` finds the source that it was installed from: a
 * version of the registry, a git address, a tarball or a folder. npm notes the source of each package in
 * `node_modules/.package-lock.json`. Without a note, as in a clone or with another package manager, the name is that of the
 * folder itself.
 *
 * @param root the folder of the package.
 * @example
 * packageSource('/srv/bot/node_modules/sluice', '0.1.0'); // '^0.1.0', 'file:/srv/sluice-0.1.0.tgz' or 'git+ssh://...'
 */
export function packageSource(root: string, version: string): string {
  const { resolved, integrity } = noteOn(root);
  if (typeof resolved !== 'string') return integrity === undefined ? `file:${root}` : `^${version}`; // npm may be told to note no address of the registry
  if (resolved.startsWith('file:'))
    return `file:${resolve(dirname(dirname(root)), resolved.slice('file:'.length))}`;
  const isOfRegistry = new RegExp(
    `/-/${basename(root)}-${version.replaceAll('.', '\\.')}\\.tgz`,
  ).test(resolved);
  return /^https?:/.test(resolved) && isOfRegistry ? `^${version}` : resolved;
}

/** The fields of npm's note that are read. */
type Note = { readonly [field in 'resolved' | 'integrity']?: unknown };

/** Reads the note of npm about a package that lies in a `node_modules`. */
function noteOn(root: string): Note {
  const modules = dirname(root);
  const notes = join(modules, '.package-lock.json');
  if (basename(modules) !== 'node_modules') return {};
  try {
    const { packages } = JSON.parse(readFileSync(notes, 'utf8')) as {
      readonly packages?: Readonly<Record<string, Note | undefined>>;
    }; // npm's own file; read by its fields, each of them checked
    return packages?.[`node_modules/${basename(root)}`] ?? {};
  } catch {
    return {};
  }
}

/**
 * The words after `npm install` for a package of this project: its name if this package has come from the registry. Otherwise it
 * is what lies beside this one: a tarball of `npm run pack:all`, or a folder of the clone. A package that is not there is named.
 *
 * @example
 * installable('sluice-telegram'); // 'sluice-telegram', '/srv/sluice/packed/sluice-telegram.tgz' or '/srv/sluice/extensions/telegram'
 */
export function installable(name: string, { folder, version } = thisCopy): string {
  const place = packageSource(folder, version).replace(/^file:/, '');
  const tarball = join(dirname(place), basename(place).replace(/^sluice(?=\S*\.tgz$)/, name));
  const ofClone = join(place, 'extensions', name.replace(/^sluice-/, ''));
  const beside = [tarball, ofClone].find((path) => path !== place && existsSync(path));
  if (beside === undefined) return name;
  return asWord(beside);
}
