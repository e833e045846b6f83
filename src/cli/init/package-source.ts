import { existsSync, readFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';

/**
 * How a package.json is to name a package, such as this one, so that `npm install` finds what it was installed from: a version of the registry, a git
 * address, a tarball or a folder. npm notes in `node_modules/.package-lock.json` where it took each package from. Where nothing
 * is noted, as in a clone or with another package manager, it is the folder itself.
 *
 * @param root the folder of the package.
 * @example
 * packageSource('/srv/bot/node_modules/sluice', '0.1.0'); // '^0.1.0', 'file:/srv/sluice-0.1.0.tgz' or 'git+ssh://...'
 */
export function packageSource(root: string, version: string): string {
  const resolved = resolvedFrom(root);
  if (resolved === undefined) return `file:${root}`;
  if (resolved.startsWith('file:'))
    return `file:${resolve(dirname(dirname(root)), resolved.slice('file:'.length))}`;
  const isOfRegistry = new RegExp(
    `/-/${basename(root)}-${version.replaceAll('.', '\\.')}\\.tgz`,
  ).test(resolved);
  return /^https?:/.test(resolved) && isOfRegistry ? `^${version}` : resolved;
}

/** The note of npm about a package that lies in a `node_modules`. */
function resolvedFrom(root: string): string | undefined {
  const modules = dirname(root);
  const notes = join(modules, '.package-lock.json');
  if (basename(modules) !== 'node_modules' || !existsSync(notes)) return undefined;
  try {
    const { packages } = JSON.parse(readFileSync(notes, 'utf8')) as {
      readonly packages?: Readonly<Record<string, { readonly resolved?: unknown } | undefined>>;
    }; // npm's own file; read by its fields, each of them checked
    const resolved = packages?.[`node_modules/${basename(root)}`]?.resolved;
    return typeof resolved === 'string' ? resolved : undefined;
  } catch {
    return undefined;
  }
}
