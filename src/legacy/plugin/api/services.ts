import { type Clock, systemClock, withTimeout } from '../../../kernel/index.js';
import type { LegacyService, LegacyServiceContext } from '../shape/shapes.js';

/** The options of a plugin's services. */
export interface ServicesOptions {
  readonly context: LegacyServiceContext;
  /** The platform's by default. */
  readonly clock?: Clock;
  /** Told of what failed. */
  readonly onFailure: (message: string, thrown?: unknown) => void;
}

/** Milliseconds that a service is waited for, when it starts and when it stops. */
const serviceTimeoutMs = 30_000;

/** The services of a plugin. They start one after the other, and stop in reverse; one that fails stops no other. */
export class PluginServices {
  readonly #services: readonly LegacyService[];
  readonly #options: ServicesOptions;
  #running: LegacyService[] = [];
  #hasStarted = false;

  /** @param services may grow until they are started. */
  constructor(services: readonly LegacyService[], options: ServicesOptions) {
    this.#services = services;
    this.#options = options;
  }

  get hasStarted(): boolean {
    return this.#hasStarted;
  }

  /** Starts them, once. Never rejects. */
  async start(): Promise<void> {
    if (this.#hasStarted) return;
    this.#hasStarted = true;
    for (const service of this.#services) {
      const verdict = await this.#call(service, 'start');
      if (verdict !== 'failed') this.#running.push(service); // a slow one may have started: it is stopped, too
    }
  }

  /** Stops those that run. Never rejects. */
  async stop(): Promise<void> {
    const running = this.#running;
    this.#running = [];
    for (const service of running.reverse())
      if (service.stop !== undefined) await this.#call(service, 'stop');
  }

  async #call(service: LegacyService, verb: 'start' | 'stop'): Promise<'done' | 'failed' | 'slow'> {
    const { context, clock = systemClock, onFailure } = this.#options;
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
}
