import { join } from 'node:path';
import { echoProvider } from '../../../src/agent/index.js';
import { createHost } from '../../../src/host/index.js';
import { openJournal } from '../../../src/journal/index.js';
import { createKernel } from '../../../src/kernel/internal.js';
import { loadLegacyPluginFrom } from '../../../src/openclaw/index.js';
import type { AgentProvider } from '../../../src/sdk/stream/index.js';

// A host on IRC in a process of its own, by its arguments: OPENCLAW FOLDER CONFIG hangs|answers. It tells its parent when it runs,
// and when its agent has begun a turn that it never ends.

const [, , openclaw = '', folder = '', config = '{}', how] = process.argv;

const hanging: AgentProvider = {
  ...{ id: 'hanging', models: ['m'], toolGate: 'enforce' },
  async *run() {
    yield { type: 'agent_start' };
    process.send?.('has begun');
    await new Promise(() => undefined);
  },
};

const kernel = createKernel();
const plugin = await loadLegacyPluginFrom(join(openclaw, 'extensions', 'irc'), {
  ...{ kernel, openclaw, stateDir: join(folder, 'state') },
  config: JSON.parse(config) as Record<string, unknown>, // as the parent wrote it
});
if (plugin.error !== undefined) throw plugin.error;
const journal = await openJournal(join(folder, 'sluice.db'));
const host = createHost({
  ...{ kernel, plugins: [plugin], channels: [], journal, store: journal.store },
  agents: [{ id: 'main', provider: how === 'hangs' ? hanging : echoProvider() }],
});
await host.start();
process.send?.('runs');
