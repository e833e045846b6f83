import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { kinds, type Order } from './order.js';

const root = fileURLToPath(new URL('..', import.meta.url));

/** The package.json of this program. The versions of the tools are those that its templates are tested with. */
const own = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  readonly version: string;
  readonly engines: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
}; // written beside this file

/** The version of this program, which is that of the Sluice that it makes packages for. */
export const ownVersion = own.version;

/** The files of a package, by their paths in it. */
export function filesOf(order: Order): ReadonlyMap<string, string> {
  const files = new Map([['package.json', `${JSON.stringify(manifestOf(order), null, 2)}\n`]]);
  for (const template of [order.kind, 'common']) {
    const folder = join(root, 'templates', template);
    for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
      if (!entry.isFile()) continue;
      const from = join(entry.parentPath, entry.name);
      const text = readFileSync(from, 'utf8')
        .replaceAll('sluice-my-name', order.packageName)
        .replaceAll('my-name', order.id);
      const path = from.slice(folder.length + 1).replaceAll(sep, '/');
      const name = path === 'gitignore' ? '.gitignore' : path; // npm does not publish a .gitignore
      files.set(name, (files.get(name) ?? '') + text); // the README begins with that of the kind
    }
  }
  return files;
}

function manifestOf({ kind, id, packageName, sluice }: Order): object {
  const [major, minor] = own.version.split('.');
  const range = `~${major}.${minor}.0`;
  const versionOf = (name: string): [string, string] => [name, `^${own.devDependencies[name]}`];
  const option = kinds[kind] === '' ? '' : `${kinds[kind]} ${id}`;
  return {
    name: packageName,
    version: '0.1.0',
    description: `An ${kind} of Sluice.`.replace('An channel', 'A channel'),
    keywords: ['sluice', 'sluice-extension', ...(kind === 'extension' ? [] : [kind])],
    type: 'module',
    engines: own.engines,
    files: ['dist'],
    sideEffects: false,
    exports: {
      '.': { types: './dist/index.d.ts', default: './dist/index.js' },
      './package.json': './package.json',
    },
    scripts: {
      start: `sluice run --extension ./src/index.ts${option}`,
      test: 'vitest run',
      typecheck: 'tsc --noEmit',
      build: 'tsc -p tsconfig.build.json',
      prepack: `node -e "require('node:fs').rmSync('dist',{recursive:true,force:true})" && npm run build`,
    },
    peerDependencies: { sluice: range },
    ...(kind !== 'agent' && { dependencies: Object.fromEntries([versionOf('zod')]) }),
    devDependencies: {
      ...Object.fromEntries([versionOf('@types/node')]),
      sluice: sluice ?? sluiceSource(root) ?? range,
      ...Object.fromEntries(['typescript', 'vitest'].map(versionOf)),
    },
  };
}

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
