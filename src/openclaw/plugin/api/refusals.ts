import { AsyncLocalStorage } from 'node:async_hooks';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { definedFields, type SluiceError } from 'sluice-kernel/internal';
import { legacyError } from '../../errors.js';
import type { UnsupportedCall } from '../shape/plugin.js';
import { type UnsupportedMember, unsupportedMembers } from './unsupported.js';

/** Members of a plugin that are written down: it may make names of them for ever. */
const mostCalls = 1_000;

/**
 * The parts of a plugin's api that are not there, and the check that nothing of them leaves the plugin.
 *
 * @param how `refuse` throws `plugin-unsupported`; `skip` writes the call down, and the plugin goes on.
 * @param onCall is told of each method, once.
 * @param onRefused is told of each call.
 */
export function refusalsOf(
  extensionId: string,
  how: 'refuse' | 'skip',
  onCall: (call: UnsupportedCall) => void,
  onRefused: (method: string, error: SluiceError) => void = () => undefined,
) {
  const calls: UnsupportedCall[] = [];
  const sends = new AsyncLocalStorage<{ error?: unknown }>();

  /** @param called the function that the plugin has called: its caller is the place. */
  const note = (member: UnsupportedMember, method: string = member, called?: () => unknown) => {
    if (calls.length === mostCalls || calls.some((call) => call.method === method)) return;
    const place = called && placeOfCall(called, method);
    const call = { method, instead: unsupportedMembers[member], ...definedFields({ place }) };
    calls.push(call);
    onCall(call);
  };

  const refused = (method: string): SluiceError => {
    const member = memberOf(method);
    const instead = member === undefined ? '' : unsupportedMembers[member];
    return legacyError('plugin-unsupported', { extensionId, method, instead });
  };

  const standIns = new StandIns((path, called) => {
    const member = memberOf(path);
    if (member !== undefined) note(member, path, called);
    const error = refused(path);
    onRefused(path, error);
    if (how === 'refuse') throw error;
  });

  /** A function in the place of a member. @param end is called once the call has been written down. */
  const standIn = (member: UnsupportedMember, method: string, end: () => unknown) => {
    const called = (): unknown => {
      note(member, method, called);
      onRefused(method, refused(method));
      return end();
    };
    return called;
  };
  const refuse = (method: string): never => {
    throw refused(method);
  };

  let isAsked = false;
  /**
   * Checks a value that the plugin hands over: an answer, a choice, a chunk. The result of a skipped call is none.
   *
   * @throws SluiceError `plugin-unsupported`, which names the member that the value comes from, or `plugin-unsearchable`.
   */
  const check = <T>(value: T): T => {
    const path = standIns.pathIn(value);
    if (path === tooMany)
      throw legacyError('plugin-unsearchable', { extensionId, most: mostSearched });
    if (path !== undefined) throw refused(path);
    return value;
  };

  return {
    /** The members that the plugin asked for so far: once per method. */
    calls,
    /** Returns whether the plugin has read `api.runtime`: until then it holds nothing that stands in for a member. */
    get isAsked() {
      return isAsked;
    },
    /** The plugin reads `api.runtime`. */
    ask: (): void => {
      isAsked = true;
    },
    /** Writes a call down without refusing it. */
    note: (member: UnsupportedMember): void => note(member),
    /** A method that refuses. */
    method: (member: UnsupportedMember) =>
      standIn(member, member, () => (how === 'refuse' ? refuse(member) : undefined)),
    /** A method that rejects, also if the others are skipped. */
    rejecting: (member: UnsupportedMember, method: string) =>
      standIn(member, method, async () => refuse(method)),
    /** A method that throws, also if the others are skipped. */
    throwing: (member: UnsupportedMember, method: string) =>
      standIn(member, method, () => refuse(method)),
    /** An object of which every member, however deep, is a method that refuses. */
    part: (member: UnsupportedMember): unknown => standIns.make(member),
    check,
    /**
     * Runs a send of the plugin. It counts if it gives an id of its own, or if no member failed that it asked for.
     *
     * @throws the error of the member (as a rejection): SluiceError `plugin-unsupported`, if it is not there.
     */
    send: async <T>(work: () => Promise<T> | T): Promise<T> => {
      const own: { error?: unknown } = {};
      const value = await sends.run(own, async () => work());
      check(value);
      if ('error' in own && !hasId(value)) throw own.error;
      return value;
    },
    /** A member has failed. */
    failed: (error: unknown): void => {
      const send = sends.getStore();
      if (send !== undefined && !('error' in send)) send.error = error;
    },
    /** A text of the plugin for a log: it may name a member, without the marks that `check` looks for. */
    plain: (text: string): string => standIns.plain(text),
  };
}

/** The parts of `refusalsOf` that others use. */
export type Refusals = ReturnType<typeof refusalsOf>;

/** The member that a path belongs to: `api.runtime.tts` for `api.runtime.tts.speak`. */
function memberOf(path: string): UnsupportedMember | undefined {
  const names = Object.keys(unsupportedMembers) as UnsupportedMember[]; // the table's own keys
  return names.find((name) => path === name || path.startsWith(`${name}.`));
}

/** Returns whether a delivery names the message that it made, which only a provider can. */
function hasId(delivery: unknown): boolean {
  if (typeof delivery !== 'object' || delivery === null) return false;
  const { messageId } = delivery as { readonly messageId?: unknown }; // from outside
  return typeof messageId === 'number' || (typeof messageId === 'string' && messageId !== '');
}

/**
 * The file and line from which a function was called: `/plugins/pigeon/index.ts:12`. The stack of a compiled file has lines of the
 * compiled text, so that a line counts only if it has the name; else it is the first line of the file that has it.
 *
 * @param called the function: its caller is looked for.
 * @param method its name in the caller's text: `api.runtime.tts.speak`.
 * @returns the file alone if no line of it has the name; nothing if the stack names no file.
 */
function placeOfCall(called: () => unknown, method: string): string | undefined {
  const at: { stack?: unknown } = {};
  Error.captureStackTrace(at, called);
  const [, url, line] =
    /^ +at (?:.*\()?((?:file:\/\/)?\/[^?():]+)(?:\?[^():]*)?:(\d+):\d+\)?$/m.exec(
      String(at.stack),
    ) ?? [];
  if (url === undefined) return undefined;
  try {
    const file = url.startsWith('file:') ? fileURLToPath(url) : url;
    const name = method.slice(method.lastIndexOf('.') + 1);
    const lines = readFileSync(file, 'utf8').split('\n');
    const hasName = (text: string | undefined): boolean => text?.includes(name) === true;
    const found = hasName(lines[Number(line) - 1]) ? Number(line) : lines.findIndex(hasName) + 1;
    return found === 0 ? file : `${file}:${found}`;
  } catch {
    return undefined; // the file is gone, or is none
  }
}

/** Objects that are looked at in one answer of a plugin, at most: a proxy could give new ones for ever. */
export const mostSearched = 100_000;

/** There are more objects than are looked at, so that a stand-in may be among the others. */
export const tooMany = Symbol('too many to search');

/** Stands around the path that a stand-in gives as a text: a character for private use, which nobody types. */
const mark = '\u{f8f1}';
const marked = new RegExp(`${mark}([^${mark}]*)${mark}`, 'u');

/**
 * The values that stand in for members that are not there. A plugin may read, call and hand them about, so that it goes on
 * as far as it can. Each is empty as a list and its path as a text, and is recognised in whatever the plugin hands over.
 */
export class StandIns {
  readonly #onCall: (path: string, called: () => unknown) => void;
  readonly #paths = new WeakMap<object, string>();
  /** Nothing is searched for as long as the plugin has not touched one. */
  #isTouched = false;

  /** @param onCall is told of each call, with the function that was called. If it throws, the call does. */
  constructor(onCall: (path: string, called: () => unknown) => void) {
    this.#onCall = onCall;
  }

  /** Makes one. A read of a member does not count as a use, because plugins pass `api.runtime` on. A call counts. */
  make(path: string): unknown {
    const call = (): object => {
      this.#isTouched = true;
      this.#onCall(path, call);
      return standIn;
    };
    // biome-ignore lint/complexity/useArrowFunction: what stands in for a class is called with "new", which an arrow is not
    const standIn: object = new Proxy(function () {}, {
      get: (_, key) => {
        this.#isTouched = true;
        if (key === Symbol.iterator) return () => [].values();
        if (key === Symbol.toPrimitive) return () => `${mark}${path}${mark}`;
        if (typeof key === 'symbol' || key === 'then' || key === 'toJSON') return undefined;
        return this.make(`${path}.${key}`);
      },
      apply: call,
      construct: call,
    });
    this.#paths.set(standIn, path);
    return standIn;
  }

  /**
   * The path of the stand-in that a value is, holds or was written with; `undefined` if there is none. Returns `tooMany` if the value holds
   * more objects than the search limit.
   */
  pathIn(value: unknown): string | typeof tooMany | undefined {
    if (!this.#isTouched) return undefined;
    const seen = new Set<object>();
    const waiting: unknown[] = [value];
    while (waiting.length > 0) {
      const one = waiting.pop();
      if (typeof one === 'string') {
        const path = marked.exec(one)?.[1];
        if (path !== undefined) return path;
      }
      if ((typeof one !== 'object' && typeof one !== 'function') || one === null || seen.has(one))
        continue;
      const path = this.#paths.get(one);
      if (path !== undefined) return path;
      if (seen.size === mostSearched) return tooMany;
      seen.add(one);
      if (ArrayBuffer.isView(one)) continue; // each byte would be a key
      if (typeof one === 'object')
        for (const key of Object.keys(one)) waiting.push(key, Reflect.get(one, key));
    }
    return undefined;
  }

  /** A text without the marks. */
  plain(text: string): string {
    return text.replaceAll(mark, '');
  }
}
