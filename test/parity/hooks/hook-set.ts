import type { LegacyHookName } from '../../../src/openclaw/index.js';

/** A record that nobody has checked. */
export type Fields = Record<string, unknown>;

/** When a handler is done: in the caller's stack, by an async function, by an object with `then`, when let go, never. */
export type Timing = 'now' | 'async' | 'thenable' | 'gated' | 'never';

/** What can be thrown. */
export type ErrorName =
  | 'error'
  | 'type-error'
  | 'text'
  | 'nothing'
  | 'null'
  | 'record'
  | 'unreadable';

/** Something to throw that reads so: an error, or the bare text. */
export interface Saying {
  readonly says: string;
  readonly isBare: boolean;
}

/** Something that a handler does to its event or context in place; without `value` the field is deleted. */
export interface Write {
  readonly to: 'event' | 'ctx';
  readonly path: readonly string[];
  readonly value?: unknown;
}

/** A handler as data: what it does is a function of what it is called with. */
export interface HandlerSpec {
  readonly pluginId: string;
  readonly priority?: number | undefined;
  readonly timing: Timing;
  /** Of several that wait, the lowest is let go first; ties in order of registration. */
  readonly release: number;
  readonly writes: readonly Write[];
  readonly ends: { readonly returns: unknown } | { readonly throws: ErrorName | Saying };
  /** The place that it is noted by, if that is not its own. */
  readonly at?: number;
  /** Further options of `api.on`. */
  readonly options?: { readonly timeoutMs?: number; readonly matcher?: readonly string[] };
}

/** One generated set: a hook, a well-formed event for it, and the handlers in their load order. */
export interface HookSet<H extends string = LegacyHookName> {
  readonly hook: H;
  readonly event: Fields;
  readonly ctx: Fields;
  readonly handlers: readonly HandlerSpec[];
  readonly catchErrors: boolean;
}

/** The plugin that is loaded without trust. All others have it. */
export const untrustedPlugin = 'mallory';

/** Stands in a returned value for something of the event. */
export type Token =
  | { readonly $: 'same'; readonly field: string }
  | { readonly $: 'echo'; readonly field: string; readonly suffix: string };

function isToken(value: unknown): value is Token {
  return typeof value === 'object' && value !== null && '$' in value;
}

/** What a handler returns: the spec's value, made anew, with its tokens read from the event. */
export function returned(value: unknown, event: Fields): unknown {
  if (isToken(value)) {
    const found = event[value.field];
    return value.$ === 'same' ? found : `${String(found)}${value.suffix}`;
  }
  if (Array.isArray(value)) return value.map((one) => returned(one, event));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, returned(one, event)]));
}

/** Does what a handler does in place. */
export function write(writes: readonly Write[], event: Fields, ctx: Fields): void {
  for (const one of writes) {
    let target = one.to === 'event' ? event : ctx;
    for (const key of one.path.slice(0, -1)) {
      const next = target[key];
      if (typeof next !== 'object' || next === null) return;
      target = next as Fields;
    }
    const last = one.path.at(-1) ?? '';
    if ('value' in one) target[last] = snapshot(one.value);
    else delete target[last];
  }
}

/** The thing that a spec throws: the same kind each time, made anew. */
export function thrown(name: ErrorName | Saying): unknown {
  if (typeof name === 'object') return name.isBare ? name.says : new Error(name.says);
  switch (name) {
    case 'error':
      return new Error('boom');
    case 'type-error':
      return new TypeError('not a thing');
    case 'text':
      return 'just text';
    case 'nothing':
      return undefined;
    case 'null':
      return null;
    case 'record':
      return { code: 7 };
    case 'unreadable':
      return Object.create(null) as object;
  }
}

/** An error as text. */
export function readable(error: unknown): string {
  try {
    return String(error);
  } catch {
    return 'unreadable';
  }
}

/** A copy of plain data, `undefined` included. */
export function snapshot<T>(value: T): T {
  if (typeof value !== 'object' || value === null) return value;
  const copy = (Array.isArray(value) ? [] : {}) as Fields; // handlers may give a list further fields
  for (const key of Object.keys(value)) copy[key] = snapshot((value as Fields)[key]);
  return copy as T;
}
