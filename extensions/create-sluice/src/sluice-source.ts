import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';

/**
 * The place where npm finds the Sluice that this program came with, if that is not the registry: the clone that it runs in, or the
 * tarball beside the one that it was installed from. npm notes that one in `node_modules/.package-lock.json`.
 *
 * @param root the folder of this package.
 */
export function sluiceSource(root: string): string | undefined {
  const clone = resolve(root, '../..');
  if (readJson(join(clone, 'package.json'))['name'] === 'sluice') return `file:${clone}`;
  const { packages = {} } = readJson(join(dirname(root), '.package-lock.json'));
  const { resolved } = Object(Object(packages)['node_modules/create-sluice']) as {
    readonly resolved?: unknown;
  }; // npm's own file; the one field that is read is checked
  if (typeof resolved !== 'string' || !resolved.startsWith('file:')) return undefined;
  const tarball = resolve(dirname(dirname(root)), resolved.slice('file:'.length));
  const core = tarball.replace(/create-sluice(?=[^/\\]*$)/, 'sluice');
  return existsSync(core) ? `file:${core}` : undefined;
}

function readJson(file: string): Readonly<Record<string, unknown>> {
  try {
    return Object(JSON.parse(readFileSync(file, 'utf8'))) as Readonly<Record<string, unknown>>; // `Object` makes it one
  } catch {
    return {};
  }
}
