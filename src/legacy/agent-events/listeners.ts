import { Type } from 'typebox';
import { createKernel, defineStage, type OpenKernel, openKernel } from '../../kernel/index.js';
import type { AgentEvent, AgentEventListener } from './event.js';

/** The one stage of the listeners: in the caller's stack, in order of registration. */
const heard = defineStage({
  family: 'legacy.agent.event',
  classes: ['observer'],
  mode: 'sync-sequential',
  payload: Type.Object({}, { additionalProperties: false }),
});

interface Entry {
  readonly contribution: Disposable;
}

/** One event on its way: what it is, and who has heard it. */
interface Telling {
  readonly event: AgentEvent;
  readonly told: Set<Entry>;
}

/**
 * The listeners of the bus. They are handlers of a kernel with a single stage, so that they are ordered and isolated
 * as everywhere; the families of agent events are asynchronous, and these are called before the emit returns.
 */
export class Listeners {
  readonly #kernel: OpenKernel = openKernel(createKernel({ stages: [heard] }));
  readonly #entries = new Map<AgentEventListener, Entry>();
  readonly #tellings = new WeakMap<object, Telling>();
  readonly #failed: (error: unknown) => void;
  #next = 0;

  /** @param failed hears what a listener throws, or rejects with; nothing else comes of it. */
  constructor(failed: (error: unknown) => void) {
    this.#failed = failed;
  }

  get size(): number {
    return this.#entries.size;
  }

  /** Adds a listener, unless it is there already. */
  add(listener: AgentEventListener): void {
    if (this.#entries.has(listener)) return;
    const entry: Entry = {
      contribution: this.#kernel.contribute({
        family: heard.family,
        class: 'observer',
        extensionId: 'agent-events',
        id: String(this.#next++).padStart(9, '0'),
        handler: ({ event }: { readonly event: { readonly metadata: object } }) =>
          this.#call(listener, entry, this.#tellings.get(event.metadata)),
      }),
    };
    this.#entries.set(listener, entry);
  }

  /** Takes a listener away. Gives whether it was there. */
  delete(listener: AgentEventListener): boolean {
    this.#entries.get(listener)?.contribution[Symbol.dispose]();
    return this.#entries.delete(listener);
  }

  clear(): void {
    for (const listener of [...this.#entries.keys()]) this.delete(listener);
  }

  /** Tells every listener, those included that another adds meanwhile. */
  tell(event: AgentEvent): void {
    const telling: Telling = { event, told: new Set() };
    let known: number;
    do {
      known = this.#next;
      const metadata = {};
      this.#tellings.set(metadata, telling);
      this.#kernel.dispatchSync(heard.family, {}, { metadata });
    } while (known !== this.#next);
  }

  #call(listener: AgentEventListener, entry: Entry, telling: Telling | undefined): void {
    if (telling === undefined || telling.told.has(entry)) return;
    if (this.#entries.get(listener) !== entry) return; // taken away by one that was told before
    telling.told.add(entry);
    let result: unknown;
    try {
      result = listener(telling.event);
    } catch (error) {
      this.#failed(error);
      throw error;
    }
    if (typeof result === 'object' && result !== null && 'then' in result)
      Promise.resolve(result).catch(this.#failed);
  }
}
