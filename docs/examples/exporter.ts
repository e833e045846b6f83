import { defineExtension } from 'sluice';

export default defineExtension({
  id: 'exporter',
  manifest: { grants: ['tap', 'provide:route'] },
  setup(api) {
    const failures = new Map<string, number>();
    const watched = api.tap({
      failure: ({ extensionId = 'host', kind }, { family }) => {
        const labels = `{family="${family}",extension="${extensionId}",kind="${kind}"}`;
        failures.set(labels, (failures.get(labels) ?? 0) + 1);
      },
    });
    const metrics = async (): Promise<string> => {
      const { stats, health, journal } = await watched.figures();
      const lines = [
        `sluice_up ${health.state === 'running' ? 1 : 0}`,
        `sluice_updates_total ${stats.received}`,
        `sluice_dispatches_total ${health.kernel.dispatches}`,
        `sluice_handlers_quarantined ${health.kernel.quarantined.length}`,
        `sluice_lanes ${stats.conversations}`,
        `sluice_updates_running ${stats.running}`,
        ...Object.entries(stats.sends).map(([end, n]) => `sluice_sends_total{end="${end}"} ${n}`),
        ...Object.entries(journal.updates).map(([is, n]) => `sluice_updates{state="${is}"} ${n}`),
        ...[...failures].map(([labels, count]) => `sluice_failures_total${labels} ${count}`),
      ];
      return `${lines.join('\n')}\n`;
    };
    const headers = { 'content-type': 'text/plain; version=0.0.4' };
    const handler = async () => new Response(await metrics(), { headers });
    api.provide('route', { method: 'GET', path: '/metrics', handler });
  },
});
