import { Carrier, type CarrierOptions } from './carrier.js';
import type { Registration } from './contribute-hook.js';
import type { InternalHookHandler } from './event.js';

/** Carriers that are kept: one for each kind of event that has no family and still has handlers. */
const maxCarriers = 64;

interface Live extends Registration {
  readonly contributions: Disposable;
}

/** What registering does elsewhere. */
export interface RegistrationsOptions {
  contribute(registration: Registration): Disposable;
  readonly carrier: CarrierOptions;
}

/** Who is registered on the bus, by key and in order. */
export class Registrations {
  readonly #options: RegistrationsOptions;
  readonly #byKey = new Map<string, Live[]>();
  readonly #carriers = new Map<string, Carrier>();
  #next = 0;

  constructor(options: RegistrationsOptions) {
    this.#options = options;
  }

  get size(): number {
    return [...this.#byKey.values()].reduce((sum, { length }) => sum + length, 0);
  }

  keys(): string[] {
    return [...this.#byKey.keys()];
  }

  add(key: string, handler: InternalHookHandler, owner: string | undefined): void {
    const registration = { key, handler, index: this.#next++, owner };
    const live = { ...registration, contributions: this.#options.contribute(registration) };
    const all = this.#byKey.get(key);
    if (all === undefined) this.#byKey.set(key, [live]);
    else all.push(live);
    this.#carriers.clear();
  }

  remove(key: string, handler: InternalHookHandler): void {
    const all = this.#byKey.get(key) ?? [];
    const at = all.findIndex((live) => live.handler === handler);
    if (at < 0) return;
    for (const { contributions } of all.splice(at, 1)) contributions[Symbol.dispose]();
    if (all.length === 0) this.#byKey.delete(key);
    this.#carriers.clear();
  }

  clear(): void {
    for (const all of this.#byKey.values())
      for (const { contributions } of all) contributions[Symbol.dispose]();
    this.#byKey.clear();
    this.#carriers.clear();
  }

  /** What carries an event to its handlers; nothing where it has none. Remade when registrations change. */
  carrierOf(type: string, action: string): Carrier | undefined {
    const key = JSON.stringify([type, action]);
    const existing = this.#carriers.get(key);
    if (existing !== undefined) return existing;
    const heard = [type, `${type}:${action}`].flatMap((name) => this.#byKey.get(name) ?? []);
    if (heard.length === 0) return undefined;
    const carrier = new Carrier(
      heard.map(({ handler }) => handler),
      this.#options.carrier,
    );
    if (this.#carriers.size >= maxCarriers) this.#carriers.clear();
    this.#carriers.set(key, carrier);
    return carrier;
  }
}
