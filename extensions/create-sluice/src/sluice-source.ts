import { existsSync, readFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';

/**
 * The place where npm finds the Sluice that this program came with, if that is not the registry: the clone that it runs in, or the
 * tarball beside the one that it was installed from. npm notes that one in `node_modules/.package-lock.json`.
 *
 * @param root the folder of this package.
 */
export function sluiceSource(root: string): string | undefined {
  const beside = dirname(root);
  if (basename(beside) === 'extensions') return `file:${dirname(beside)}`;
  try {
    const { packages } = JSON.parse(readFileSync(join(beside, '.package-lock.json'), 'utf8')) as {
      readonly packages: Readonly<Record<string, { readonly resolved: string }>>;
    }; // npm's own file; whatever else it holds fails below
    const tarball = packages['node_modules/create-sluice']?.resolved.replace(/^file:/, '') ?? '';
    const core = resolve(beside, '..', tarball.replace(/create-sluice(?=[^/\\]*$)/, 'sluice'));
    return core.endsWith('.tgz') && existsSync(core) ? `file:${core}` : undefined;
  } catch {
    return undefined;
  }
}
