import { AsyncLocalStorage } from 'node:async_hooks';

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
  /** The first call within a piece of work of the plugin. */
  readonly #work = new AsyncLocalStorage<{ called?: string }>();
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
      const work = this.#work.getStore();
      if (work !== undefined) work.called ??= path;
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

  /** Runs a piece of work. @returns what it gave, and the first stand-in that it called. */
  during<T>(
    work: () => Promise<T> | T,
  ): Promise<{ readonly value: T; readonly called: string | undefined }> {
    const own: { called?: string } = {};
    return this.#work.run(own, async () => {
      const value = await work();
      return { value, called: own.called };
    });
  }

  /** A text without the marks. */
  plain(text: string): string {
    return text.replaceAll(mark, '');
  }
}
