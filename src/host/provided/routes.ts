import type { IncomingMessage, ServerResponse } from 'node:http';

/** Answers the requests to one path of the host's own HTTP port (extensions-that-act §9). */
export interface HttpRoute {
  /** A route of `GET` answers `HEAD`, too. */
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'OPTIONS';
  /** The whole path, such as `/hooks/build`. It is compared letter by letter. */
  readonly path: string;
  /**
   * Answers one request. Its `signal` aborts when the time is up, when the client has gone, and when the extension is
   * unloaded. The caller learns nothing of what it throws.
   */
  readonly handler: (request: Request) => Response | Promise<Response>;
  /** Bytes that the body of a request may have, by default 1 048 576. */
  readonly maxBodyBytes?: number;
  /** Milliseconds that an answer may take, with its body; by default 30 000. */
  readonly timeoutMs?: number;
}

/** Bytes that the body of a request may have if its route does not say. */
export const usualBodyBytes = 1_048_576;

declare module '@sluice/sdk/extension' {
  interface Provisions {
    /** A path of the host's own HTTP port. */
    route: HttpRoute;
  }
}

/** A request as it came in at a port, with the response that is still to be written. */
export interface NodeExchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

/** A route as the host serves it. One of a plugin takes each method, and answers by itself. */
interface HostRoute extends Omit<HttpRoute, 'method' | 'handler'> {
  readonly method: HttpRoute['method'] | '*';
  readonly handler: (
    request: Request,
    at: NodeExchange | undefined,
  ) => Response | Promise<Response>;
}

/** A route with the extension or the plugin that provides it. */
export interface OwnedRoute {
  readonly extensionId: string;
  readonly route: HostRoute;
}

/** The routes of a plugin, which are asked for a path if no extension has it. */
export interface PluginRoutes {
  all(): readonly OwnedRoute[];
  at(path: string): OwnedRoute | undefined;
}

/** Names a route for people. */
export function nameOfRoute({ method, path }: OwnedRoute['route']): string {
  return `${String(method)} ${String(path)}`; // from JavaScript they may be anything
}

const methods: ReadonlySet<unknown> = new Set(['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);
const ofTheHost: ReadonlySet<string> = new Set(['/healthz', '/readyz']);

/** Says why a route cannot be taken beside others; nothing if it can. */
export function routeProblem(
  { extensionId, route }: OwnedRoute,
  others: readonly OwnedRoute[],
): string | undefined {
  const { method, path, handler, maxBodyBytes = usualBodyBytes, timeoutMs = 1 } = route;
  if (!methods.has(method)) return `its method must be one of ${[...methods].join(', ')}`;
  if (typeof path !== 'string' || pathOf(path) !== path)
    return 'its path must begin with "/", and be as a URL has it: without a query, without spaces';
  if (ofTheHost.has(path)) return `"${path}" is the host's own`;
  if (typeof handler !== 'function') return 'its handler is no function';
  if (!(Number.isSafeInteger(maxBodyBytes) && maxBodyBytes >= 0))
    return 'its maxBodyBytes must be a whole number';
  if (!(timeoutMs > 0 && timeoutMs < 2 ** 31)) return 'its timeoutMs must be more than 0';
  const there = others.filter((one) => one.route.path === path);
  const foreign = there.find((one) => one.extensionId !== extensionId);
  if (foreign !== undefined) return `the extension "${foreign.extensionId}" has that path`;
  const isTwice = there.some((one) => one.route.method === method);
  return isTwice ? 'it is provided twice' : undefined;
}

/** The path that a request for it would have; nothing if it is none. */
function pathOf(path: string): string | undefined {
  const url = `http://localhost${path}`;
  return URL.canParse(url) ? new URL(url).pathname : undefined;
}

/** The routes of a host: those that its extensions provide now, and those of plugins. */
export class Routes {
  readonly #others: readonly PluginRoutes[];
  readonly #owned = new Set<OwnedRoute>();
  /** The requests that are being answered, by what stops them. */
  readonly running = new Map<AbortController, OwnedRoute>();
  #ports = 0;

  constructor(others: readonly PluginRoutes[]) {
    this.#others = others;
  }

  /** A port is open at which requests come in. */
  get isOpen(): boolean {
    return this.#ports > 0;
  }

  /** Notes that a port is open. */
  open(): Disposable {
    this.#ports++;
    return { [Symbol.dispose]: () => void this.#ports-- };
  }

  all(): readonly OwnedRoute[] {
    return [...this.#owned, ...this.#others.flatMap((one) => one.all())];
  }

  /** The routes of a path: those of one extension, one for each method, or else one of a plugin. */
  at(path: string): readonly OwnedRoute[] {
    const owned = [...this.#owned].filter(({ route }) => route.path === path);
    if (owned.length > 0 || ofTheHost.has(path)) return owned;
    return this.#others.flatMap((one) => one.at(path) ?? []).slice(0, 1);
  }

  /** Takes a route. @returns the function that takes it away and stops its requests, or why it cannot be taken. */
  add(owned: OwnedRoute): (() => void) | string {
    const problem = routeProblem(owned, [...this.#owned]);
    if (problem !== undefined) return problem;
    this.#owned.add(owned);
    return () => {
      this.#owned.delete(owned);
      for (const [stop, one] of this.running) if (one === owned) stop.abort();
    };
  }
}
