import { once } from 'node:events';
import { createServer } from 'node:http';
import { defineExtension } from 'sluice';
import { z } from 'zod';

export default defineExtension({
  id: 'metrics',
  manifest: { grants: ['tap'] },
  config: z.strictObject({ port: z.number().default(9464) }),
  async setup(api, { port }) {
    const counts = new Map<string, number>();
    const count = (name: string): void => {
      counts.set(name, (counts.get(name) ?? 0) + 1);
    };
    const tap = api.tap({
      fact: (entry) => {
        if (entry.kind !== 'dispatch') return;
        const { event, status } = entry.outcome;
        count(`sluice_dispatches_total{family="${event.family}",status="${status}"}`);
      },
      failure: ({ extensionId = 'sluice', kind }) =>
        count(`sluice_failures_total{extension="${extensionId}",kind="${kind}"}`),
    });
    const server = createServer(async (_request, response) => {
      const figures = await tap.figures().catch(() => undefined); // no host runs yet, or any more
      if (figures === undefined) return void response.writeHead(503).end();
      const { stats, journal } = figures;
      const gauges = {
        sluice_running: stats.running,
        sluice_waiting: stats.waiting,
        sluice_dead_letters: journal.updates.dead,
      };
      const lines = [...counts, ...Object.entries(gauges)].map((line) => line.join(' '));
      response.setHeader('content-type', 'text/plain; version=0.0.4').end(`${lines.join('\n')}\n`);
    });
    api.own('metrics server', server);
    await once(server.listen(port, '127.0.0.1'), 'listening');
  },
});
