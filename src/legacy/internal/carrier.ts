import { Type } from 'typebox';
import {
  type Clock,
  createKernel,
  definedFields,
  defineStage,
  type OpenKernel,
  openKernel,
} from '../../kernel/index.js';
import type { InternalHookHandler } from './event.js';
import type { Firing } from './firing.js';

/** The one stage of a carrier: the handlers of one event, in the order of the bus. */
const carried = defineStage({
  family: 'legacy.internal.firing',
  classes: ['observer'],
  mode: 'sequential',
  payload: Type.Object({}, { additionalProperties: false }),
});

/** How a carrier calls its handlers. */
export interface CarrierOptions {
  readonly extensionId: string;
  readonly clock: Clock | undefined;
  readonly timeoutMs: number;
}

/**
 * Calls the handlers of an event that is no canonical one. It is a kernel with a single stage, so that handlers are
 * ordered, isolated and timed as everywhere, and none is called by a loop of its own.
 */
export class Carrier {
  readonly #kernel: OpenKernel;
  /** The firings under way, by the metadata of their dispatches. */
  readonly #firings = new WeakMap<object, Firing>();

  constructor(handlers: readonly InternalHookHandler[], options: CarrierOptions) {
    const { extensionId, clock, timeoutMs } = options;
    this.#kernel = openKernel(createKernel({ stages: [carried], ...definedFields({ clock }) }));
    for (const [i, handler] of handlers.entries())
      this.#kernel.contribute({
        family: carried.family,
        class: 'observer',
        extensionId,
        id: String(i).padStart(6, '0'),
        timeoutMs,
        handler: ({ event }: { readonly event: { readonly metadata: object } }) =>
          this.#firings.get(event.metadata)?.call(handler),
      });
  }

  /** Resolves when every handler has settled, or was given up. */
  async carry(firing: Firing): Promise<void> {
    const metadata = {};
    this.#firings.set(metadata, firing);
    await this.#kernel.dispatch(carried.family, {}, { metadata });
  }
}
