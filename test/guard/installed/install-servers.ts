import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { installOnce, npm } from '../../support/package-cache.js';

/** The servers that the proxy of MCP is tried with. */
const servers = ['everything', 'filesystem', 'memory'] as const;
const version = '2026.8.31';

/**
 * Installs the servers in a cache outside of the repository, once per machine.
 *
 * @returns the program of each. Rejects with npm's own words if they cannot be installed.
 */
export async function installMcpServers(): Promise<Record<(typeof servers)[number], string>> {
  const names = servers.map((name) => `@modelcontextprotocol/server-${name}`);
  const folder = await installOnce(`mcp-servers-${version}`, async (staging) => {
    const dependencies = Object.fromEntries(names.map((name) => [name, version]));
    await writeFile(join(staging, 'package.json'), JSON.stringify({ private: true, dependencies }));
    await npm(['install', '--ignore-scripts'], staging);
  });
  const program = (name: string): string =>
    join(folder, 'node_modules/@modelcontextprotocol', `server-${name}`, 'dist/index.js');
  return {
    everything: program('everything'),
    filesystem: program('filesystem'),
    memory: program('memory'),
  };
}
