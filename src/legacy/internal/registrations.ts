import type { Registration } from './contribute-hook.js';
import type { InternalHookHandler } from './event.js';

interface Live extends Registration {
  readonly contributions: Disposable;
}

/** The handlers that are registered on the bus, by key and in order. */
export class Registrations {
  readonly #contribute: (registration: Registration) => Disposable;
  readonly #byKey = new Map<string, Live[]>();
  #next = 0;

  constructor(contribute: (registration: Registration) => Disposable) {
    this.#contribute = contribute;
  }

  get size(): number {
    return [...this.#byKey.values()].reduce((sum, { length }) => sum + length, 0);
  }

  keys(): string[] {
    return [...this.#byKey.keys()];
  }

  add(key: string, handler: InternalHookHandler, owner: string | undefined): void {
    const registration = { key, handler, index: this.#next++, owner };
    const live = { ...registration, contributions: this.#contribute(registration) };
    const all = this.#byKey.get(key);
    if (all === undefined) this.#byKey.set(key, [live]);
    else all.push(live);
  }

  remove(key: string, handler: InternalHookHandler): void {
    const all = this.#byKey.get(key) ?? [];
    const at = all.findIndex((live) => live.handler === handler);
    if (at < 0) return;
    for (const { contributions } of all.splice(at, 1)) contributions[Symbol.dispose]();
    if (all.length === 0) this.#byKey.delete(key);
  }

  clear(): void {
    for (const all of this.#byKey.values())
      for (const { contributions } of all) contributions[Symbol.dispose]();
    this.#byKey.clear();
  }

  /** The handlers of an event as they are now: those of its type, then those of its action. */
  handlersOf(type: string, action: string): readonly InternalHookHandler[] {
    return [type, `${type}:${action}`]
      .flatMap((key) => this.#byKey.get(key) ?? [])
      .map(({ handler }) => handler);
  }
}
