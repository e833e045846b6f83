import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { ChannelDeclaration } from '@sluice/sdk/channel';
import { packageSource } from '../installed/package-source.js';
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
