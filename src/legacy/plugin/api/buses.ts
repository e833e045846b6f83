import type { Kernel } from '../../../kernel/index.js';
import {
  type AgentEventListener,
  type AgentEvents,
  bridgeAgentEvents,
} from '../../agent-events/index.js';
import { bridgeInternalHooks, type InternalHooks } from '../../internal/index.js';

/** The legacy buses that the plugins of one kernel share. */
export interface PluginBuses {
  readonly internalHooks: InternalHooks;
  /** Adds a listener for agent events. The bus is on the kernel while somebody listens. */
  listen(listener: AgentEventListener): () => void;
}

/** The buses of a kernel. They are made when a plugin first asks for one. */
export function pluginBuses(kernel: Kernel): PluginBuses {
  let buses = byKernel.get(kernel);
  if (buses === undefined) {
    buses = {
      internalHooks: bridgeInternalHooks(kernel, { extensionId: 'plugin-internal-hooks' }),
      listen: listening(kernel),
    };
    byKernel.set(kernel, buses);
  }
  return buses;
}

/** In effect a private field of each kernel: it lives as long as the kernel, and no two kernels share one. */
const byKernel = new WeakMap<Kernel, PluginBuses>();

function listening(kernel: Kernel): PluginBuses['listen'] {
  let bus: AgentEvents | undefined;
  const listeners = new Set<AgentEventListener>();
  return (listener) => {
    bus ??= bridgeAgentEvents(kernel, { extensionId: 'plugin-agent-events' });
    const stop = bus.onAgentEvent(listener);
    listeners.add(listener);
    return () => {
      if (!stop()) return;
      listeners.delete(listener);
      if (listeners.size > 0) return;
      bus?.[Symbol.dispose]();
      bus = undefined;
    };
  };
}
