import type { Registration } from './contribute-hook.js';
import type { InternalHookHandler } from './event.js';

interface Live extends Registration {
  readonly contributions: Disposable;
}

/** The handlers that are registered on the bus, by key and in order. */
export function registrations(contribute: (registration: Registration) => Disposable) {
  const byKey = new Map<string, Live[]>();
  let next = 0;
  return {
    size: (): number => [...byKey.values()].reduce((sum, { length }) => sum + length, 0),
    keys: (): string[] => [...byKey.keys()],
    add(key: string, handler: InternalHookHandler, owner?: string): void {
      const registration = { key, handler, index: next++, owner };
      const live = { ...registration, contributions: contribute(registration) };
      const all = byKey.get(key);
      if (all === undefined) byKey.set(key, [live]);
      else all.push(live);
    },
    remove(key: string, handler: InternalHookHandler): void {
      const all = byKey.get(key) ?? [];
      const at = all.findIndex((live) => live.handler === handler);
      if (at < 0) return;
      for (const { contributions } of all.splice(at, 1)) contributions[Symbol.dispose]();
      if (all.length === 0) byKey.delete(key);
    },
    clear(): void {
      for (const all of byKey.values())
        for (const { contributions } of all) contributions[Symbol.dispose]();
      byKey.clear();
    },
    /** The handlers of an event as they are now: those of its type, then those of its action. */
    handlersOf: (type: string, action: string): readonly InternalHookHandler[] =>
      [type, `${type}:${action}`]
        .flatMap((key) => byKey.get(key) ?? [])
        .map(({ handler }) => handler),
  };
}
