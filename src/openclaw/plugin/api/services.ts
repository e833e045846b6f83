import { type Clock, systemClock, withTimeout } from 'sluice-kernel/internal';
import type { LegacyService, LegacyServiceContext } from '../shape/shapes.js';

/** The options of a plugin's services. */
interface ServicesOptions {
  readonly context: LegacyServiceContext;
  /** The platform's by default. */
  readonly clock?: Clock;
  /** Told of what failed. */
  readonly onFailure: (message: string, thrown?: unknown) => void;
}

/** Milliseconds that a service is waited for, when it starts and when it stops. */
const serviceTimeoutMs = 30_000;

/**
 * The services of a plugin. They start one after the other, and stop in reverse; one that fails stops no other.
 *
 * @param services may grow until they are started.
 */
export function pluginServices(
  services: readonly LegacyService[],
  { context, clock = systemClock, onFailure }: ServicesOptions,
) {
  let running: LegacyService[] = [];
  let hasStarted = false;

  async function call(service: LegacyService, verb: 'start' | 'stop') {
    const name = `service "${service.id}": ${verb}`;
    const work = async (): Promise<'done' | 'failed' | 'slow'> => {
      try {
        await service[verb]?.(context);
        return 'done';
      } catch (thrown) {
        onFailure(`${name} failed`, thrown);
        return 'failed';
      }
    };
    return withTimeout(work(), serviceTimeoutMs, clock, () => {
      onFailure(`${name} has not ended after ${serviceTimeoutMs} ms; the others go on`);
      return 'slow';
    });
  }

  return {
    /** Starts them, once. Never rejects. */
    async start(): Promise<void> {
      if (hasStarted) return;
      hasStarted = true;
      for (const service of services) {
        const verdict = await call(service, 'start');
        if (verdict !== 'failed') running.push(service); // a slow one may have started: it is stopped, too
      }
    },
    /** Stops those that run. Never rejects. */
    async stop(): Promise<void> {
      const stopping = running;
      running = [];
      for (const service of stopping.reverse())
        if (service.stop !== undefined) await call(service, 'stop');
    },
  };
}
