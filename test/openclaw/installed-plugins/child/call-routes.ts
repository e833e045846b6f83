import { setImmediate } from 'node:timers/promises';
import { type Host, startHealthServer } from '../../../../src/host/index.js';
import { fieldsOf } from '../../../../src/kernel/internal.js';
import type { LegacyPlugin } from '../../../../src/openclaw/index.js';
import type { TrialJob } from './found.js';
import type { Trial } from './trial.js';

/** Milliseconds that a plugin has until its accounts have registered their routes. */
const startTimeoutMs = 30_000;

/**
 * Asks each HTTP route of a plugin once, with the token of the gateway and an empty object. It works if the plugin's own handler
 * answers, be it that it refuses such a request; not if it fails, or leaves the request to others.
 *
 * @param inputs the method, the path and the body of requests, by `route PATH`.
 */
export async function callRoutes(
  trial: Trial,
  plugin: LegacyPlugin,
  host: Host,
  { inputs, routes: count }: Pick<TrialJob, 'inputs' | 'routes'>,
): Promise<void> {
  const deadlineMs = performance.now() + startTimeoutMs;
  while (plugin.httpRoutes.length < count && performance.now() < deadlineMs) await setImmediate();
  await using port = await startHealthServer(host, { port: 0 });
  const { token } = fieldsOf(fieldsOf(plugin.config['gateway'])['auth']);
  for (const { path, match } of [...plugin.httpRoutes]) {
    const name = `route ${path}${match === 'exact' ? '' : ` (${match})`}`;
    const { method = 'POST', path: at = path, body = {} } = inputs[name] ?? {};
    await trial.ends(name, async () => {
      const answer = await fetch(`${port.url}${String(at)}`, {
        method: String(method),
        headers: { 'content-type': 'application/json', authorization: `Bearer ${String(token)}` },
        ...(method !== 'GET' && { body: JSON.stringify(body) }),
      });
      const said = await answer.text();
      if (answer.status >= 500) return `fails: ${answer.status}`;
      if (said.includes('"type":"unauthorized"')) return 'asks for the token of the gateway';
      return said.includes('"type":"not_found"') ? 'leaves the request to others' : undefined;
    });
  }
}
