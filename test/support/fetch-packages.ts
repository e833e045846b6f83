import { installFrameworks } from '../adapters/frameworks.js';
import { installSdk } from '../claude/installed/install-sdk.js';
import { installMcpServers } from '../guard/installed/install-servers.js';
import { corpus } from '../openclaw/installed-plugins/corpus.js';
import { installPlugin } from '../openclaw/installed-plugins/install.js';
import { installNode22, installOpenClaw } from './openclaw-install.js';
import { openClawPackage } from './openclaw-package.js';
import { installPgBouncer } from './pgbouncer.js';
import { installPostgres } from './postgres-server.js';

// Fetches what the suites run beside this project, so that they find it in the cache. Says which one npm refused, and why.

const fetches = {
  'the package of OpenClaw': () => openClawPackage({ fetch: true }),
  'OpenClaw with its dependencies': installOpenClaw,
  'Node 22': installNode22,
  'the frameworks of the adapters': installFrameworks,
  'Claude Agent SDK': installSdk,
  'the MCP servers': installMcpServers,
  PostgreSQL: installPostgres,
  PgBouncer: installPgBouncer,
  'the plugins that are tried': async () => {
    for (const plugin of corpus) if (plugin.inCi) await installPlugin(plugin);
  },
};

for (const [name, fetch] of Object.entries(fetches))
  try {
    await fetch();
    console.log(`${name}: there`);
  } catch (error) {
    console.error(`${name}: ${error instanceof Error ? error.message : String(error)}`);
    process.exitCode = 1;
  }
