import type { AgentEventListener } from '../../agent-events/event.js';
import type { Registering } from '../api/registering.js';
import { standInsOf } from '../api/unsupported.js';
import { servedParts } from './served.js';
import { withStandIns } from './with-stand-ins.js';

/** The release that plugins of a profile read in their api. */
const apiVersions = { '2026.3': '2026.3.13', '2026.9': '2026.9.6' } as const;

/** `api.runtime` of a plugin: a member that has no place here is a stand-in, which refuses. */
export function runtimeOf(plugin: Registering): object {
  const { method, part } = plugin.refusals;
  const standIns = standInsOf('api.runtime', part) as Readonly<Record<string, object>>; // by the names of the table
  const served = Object.entries(servedParts(plugin)).map(([name, members]) => [
    name,
    withStandIns(members, () => standIns[name] ?? {}),
  ]);
  return {
    version: apiVersions[plugin.profile],
    ...standIns,
    ...Object.fromEntries(served),
    get channel() {
      return plugin.channelRuntime();
    },
    events: {
      onAgentEvent: (listener: AgentEventListener) => onAgentEvent(plugin, listener),
      ...standInsOf('api.runtime.events', method),
    },
  };
}

/** `api.runtime.events.onAgentEvent`: a listener, until the function that it gives is called or the plugin ends. */
function onAgentEvent({ scope, buses }: Registering, listener: AgentEventListener): () => void {
  return scope.add('agent event listener', buses().listen(listener));
}
