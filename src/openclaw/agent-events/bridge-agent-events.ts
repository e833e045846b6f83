import type { Kernel } from 'sluice-kernel';
import { sharedBus } from '../facts/shared-bus.js';
import { agentEventBus } from './agent-event-bus.js';
import type { AgentEvents, AgentEventsOptions } from './agent-events.js';

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
  const stops = new Set<() => boolean>();
  return {
    ...bus,
    onAgentEvent: (listener) => {
      const stop = bus.onAgentEvent(listener);
      stops.add(stop);
      return () => {
        stops.delete(stop);
        return stop();
      };
    },
    [Symbol.dispose]: () => {
      for (const stop of stops) stop();
      stops.clear();
      leave();
    },
  };
}

const join = sharedBus(agentEventBus);
