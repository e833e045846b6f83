/** Counts the fetches of this process to some origins that have no whole answer yet. */
export interface FetchesMade extends Disposable {
  readonly open: number;
  /** Counts those to another origin, too. */
  watch(origin: string): void;
}

/** In place of `fetch` until it is disposed of. An answer of a watched origin is handed on when all of it is there. */
export function fetchesMadeTo(first: string): FetchesMade {
  const before = globalThis.fetch;
  const origins = new Set([first]);
  let open = 0;
  const counting: typeof fetch = async (input, init) => {
    const url = input instanceof Request ? input.url : String(input);
    if (!origins.has(new URL(url).origin)) return before(input, init);
    open++;
    try {
      const response = await before(input, init);
      const body = await response.arrayBuffer();
      const { status, headers } = response;
      return new Response([204, 304].includes(status) ? null : body, { status, headers });
    } finally {
      open--;
    }
  };
  globalThis.fetch = counting;
  return {
    get open() {
      return open;
    },
    watch: (origin) => void origins.add(origin),
    [Symbol.dispose]: () => {
      origins.clear(); // also if another one stands before it now
      if (globalThis.fetch === counting) globalThis.fetch = before;
    },
  };
}
