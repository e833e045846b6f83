import { once } from 'node:events';
import { createServer } from 'node:http';
import { defineExtension } from 'sluice';
import { z } from 'zod';

export default defineExtension({
  id: 'metrics',
  config: z.strictObject({ port: z.number().default(9464) }),
  async setup(api, { port }) {
    const counts = new Map<string, number>();
    const add = (name: string, by = 1): void => {
      counts.set(name, (counts.get(name) ?? 0) + by);
    };
    api.observe('ingress.received', 'in', ({ payload: { channel } }) =>
      add(`sluice_updates_total{channel="${channel}"}`),
    );
    api.observe('egress.sent', 'out', ({ payload: { channel, durationMs = 0 } }) => {
      add(`sluice_sends_total{channel="${channel}"}`);
      add(`sluice_send_milliseconds_total{channel="${channel}"}`, durationMs);
    });
    api.observe('egress.failed', 'failed', ({ payload: { cause = 'unknown' } }) =>
      add(`sluice_sends_failed_total{cause="${cause}"}`),
    );
    api.observe('egress.cancelled', 'cancelled', ({ payload: { cancel } }) =>
      add(`sluice_sends_cancelled_total{by="${cancel.extensionId}",code="${cancel.code}"}`),
    );
    api.observe('agent.tool.called', 'tools', ({ payload: { toolName, isError = false } }) =>
      add(`sluice_tools_total{tool="${toolName}",failed="${isError}"}`),
    );
    api.observe('agent.llm.output', 'tokens', ({ payload: { model, usage } }) =>
      add(`sluice_output_tokens_total{model="${model}"}`, usage?.outputTokens),
    );
    const server = createServer((_request, response) => {
      const lines = [...counts].map(([name, count]) => `${name} ${count}\n`);
      response.setHeader('content-type', 'text/plain; version=0.0.4').end(lines.join(''));
    });
    api.own('metrics server', server);
    await once(server.listen(port, '127.0.0.1'), 'listening');
  },
});
