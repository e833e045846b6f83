import { join } from 'node:path';
import { echoProvider } from '../../../../src/agent/index.js';
import { createHost, startHealthServer } from '../../../../src/host/index.js';
import { openJournal } from '../../../../src/journal/index.js';
import { createKernel, loggerWith } from '../../../../src/kernel/internal.js';
import { loadLegacyPluginFrom } from '../../../../src/openclaw/index.js';
import type { AgentProvider } from '../../../../src/sdk/stream/index.js';
import type { LaterHostOptions, LaterHostSays } from './later-lab.js';

// A host that runs one plugin for OpenClaw 2026.9 as its channel, by the options in its argument. The code of openclaw 2026.9 wants
// Node 22, so it is a process of its own. It tells its parent its log, the ends of messages and the sends that it asked for.

const options = JSON.parse(process.argv[2] ?? '{}') as LaterHostOptions; // as the lab wrote it
const { plugin: path, openclaw, folder, config, how = 'answers' } = options;
const say = (said: LaterHostSays): void => void process.send?.(said);

const hanging: AgentProvider = {
  ...{ id: 'hanging', models: ['m'], toolGate: 'enforce' },
  async *run() {
    yield { type: 'agent_start' };
    say({ kind: 'begun' });
    await new Promise(() => undefined);
  },
};

const kernel = createKernel();
const logger = loggerWith((level, message, fields) =>
  say({ kind: 'log', line: `${level} ${message} ${String(fields?.['error'] ?? '')}`.trim() }),
);
const plugin = await loadLegacyPluginFrom(path, {
  ...{ kernel, openclaw, config, logger, stateDir: join(folder, 'state'), routes: true },
});
if (plugin.error !== undefined) throw plugin.error;
const journal = await openJournal(join(folder, 'sluice.db'));
const host = createHost({
  ...{ kernel, plugins: [plugin], channels: [], journal, store: journal.store, logger },
  agents: [{ id: 'main', provider: how === 'hangs' ? hanging : echoProvider() }],
  onMessageEnd: ({ status, reason, sends }) =>
    say({ kind: 'end', status, reason, texts: sends.map(({ content }) => content) }),
});
await host.start();
const { url } = await startHealthServer(host, { port: 0 });
say({ kind: 'runs', url });
process.on('message', (asked: Parameters<typeof host.send>[0] | 'stop') => {
  if (asked !== 'stop')
    return void host.send(asked).then((report) => say({ kind: 'sent', status: report.status }));
  const left = plugin.unsupported.map(({ method }) => method);
  void host.stop({ timeoutMs: 2_000 }).then(() => say({ kind: 'stopped', unsupported: left }));
});
