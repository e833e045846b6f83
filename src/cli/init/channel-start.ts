import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, join, resolve } from 'node:path';
import type { ChannelDeclaration } from '../../channel/index.js';
import { declaredChannels, noSuchChannel, packageOf } from '../pipeline/channel-packages.js';

/** The channel that a new host begins with. */
export interface ChannelStart {
  /** The package that provides it. */
  readonly packageName: string;
  /** The place where npm finds the package: a range of versions, or an address. */
  readonly source: string;
  readonly declaration: ChannelDeclaration;
}

/**
 * Finds the package of a channel, in a folder or beside this package, and what it declares.
 *
 * @throws CommandError `bad-arguments` if the package is not installed, or declares another channel.
 */
export async function channelStart(name: string, cwd: string): Promise<ChannelStart> {
  const packageName = packageOf(name);
  const [found] = await declaredChannels({ channels: [name], extensions: [], workspaceDir: cwd });
  if (packageName === undefined || found?.declaration.id !== name)
    throw noSuchChannel(name, [], cwd);
  return { packageName, source: sourceOf(packageName, cwd), declaration: found.declaration };
}

/** Any version, if the package does not let its package.json be read. */
function sourceOf(packageName: string, cwd: string): string {
  for (const place of [join(cwd, 'sluice.config.ts'), import.meta.url])
    try {
      const file = createRequire(place).resolve(`${packageName}/package.json`);
      const { version } = JSON.parse(readFileSync(file, 'utf8')) as { readonly version: string }; // npm has read it
      return packageSource(dirname(file), version);
    } catch {
      // it is not there, or its exports leave that file out
    }
  return '*';
}

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
  const resolved = resolvedFrom(root);
  if (resolved === undefined) return `file:${root}`;
  if (resolved.startsWith('file:'))
    return `file:${resolve(dirname(dirname(root)), resolved.slice('file:'.length))}`;
  const isOfRegistry = new RegExp(
    `/-/${basename(root)}-${version.replaceAll('.', '\\.')}\\.tgz`,
  ).test(resolved);
  return /^https?:/.test(resolved) && isOfRegistry ? `^${version}` : resolved;
}

/** Reads the note of npm about a package that lies in a `node_modules`. */
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
