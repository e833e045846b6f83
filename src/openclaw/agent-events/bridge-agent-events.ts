import type { Kernel } from 'sluice-kernel';
import { sharedBus } from '../facts/legacy-bus.js';
import { AgentEventBus } from './agent-event-bus.js';
import type { AgentEvents, AgentEventsOptions } from './agent-events.js';
import type { AgentEventListener } from './event.js';

/**
 * Puts the agent event bus on a kernel. What is emitted reaches the listeners as in the legacy module, and the
 * pipeline as the family of its stream and phase; what a turn or another bridge dispatches reaches the listeners as
 * the event that the legacy system would emit for it.
 *
 * A kernel has one such bus, as a legacy process has: each call gives access to the same, and options count at the
 * first. Disposing takes the listeners away that came through it, and after the last the bus.
 *
 * @example
 * const bus = bridgeAgentEvents(kernel);
 * const stop = bus.onAgentEvent(({ runId, seq, stream, data }) => show(runId, seq, stream, data));
 * bus.emitAgentEvent({ runId: 'r-1', stream: 'lifecycle', data: { phase: 'start', startedAt: Date.now() } });
 */
export function bridgeAgentEvents(kernel: Kernel, options: AgentEventsOptions = {}): AgentEvents {
  const { bus, leave } = join(kernel, options);
  const own = new Set<AgentEventListener>();
  return {
    emitAgentEvent: (event) => bus.emit(event),
    onAgentEvent: (listener) => {
      bus.add(listener);
      own.add(listener);
      return () => own.delete(listener) && bus.remove(listener);
    },
    registerAgentRunContext: (runId, context) => bus.runs.register(runId, context),
    getAgentRunContext: (runId) => bus.runs.contexts.get(runId),
    clearAgentRunContext: (runId) => void bus.runs.contexts.delete(runId),
    idle: () => bus.idle(),
    stats: () => bus.stats(),
    [Symbol.dispose]: () => {
      for (const listener of own) bus.remove(listener);
      own.clear();
      leave();
    },
  };
}

const join = sharedBus((kernel, options: AgentEventsOptions) => new AgentEventBus(kernel, options));
