import { perKernel } from 'sluice-kernel/internal';
import { bridgeAgentEvents } from '../../agent-events/bridge-agent-events.js';
import type { AgentEventListener } from '../../agent-events/event.js';
import { bridgeInternalHooks } from '../../internal-hooks/bridge-internal-hooks.js';
import type { InternalHooks } from '../../internal-hooks/internal-hooks.js';

/** The legacy buses that the plugins of one kernel share. */
export interface PluginBuses {
  readonly internalHooks: InternalHooks;
  /** Adds a listener for agent events. The bus is on the kernel while somebody listens. */
  listen(listener: AgentEventListener): () => void;
}

/** Gives the buses of a kernel. They are made when a plugin first asks for one. */
export const pluginBuses = perKernel(
  (kernel): PluginBuses => ({
    internalHooks: bridgeInternalHooks(kernel, { extensionId: 'plugin-internal-hooks' }),
    listen: (listener) => {
      const bus = bridgeAgentEvents(kernel, { extensionId: 'plugin-agent-events' });
      bus.onAgentEvent(listener);
      return () => bus[Symbol.dispose]();
    },
  }),
);
