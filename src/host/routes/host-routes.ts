import type { HostParts } from '../parts/parts.js';
import { type HttpRoute, usualBodyBytes } from '../provided/routes.js';
import { answerRequest, refusal } from './answer-request.js';

/** A route of an extension that is live. */
export interface HttpRouteStatus extends Required<Omit<HttpRoute, 'handler' | 'timeoutMs'>> {
  readonly extensionId: string;
}

/** The routes of the extensions that are live. `startHealthServer` serves them at its port. */
export interface HttpRoutes {
  list(): readonly HttpRouteStatus[];
  /**
   * Answers a request by the route of its method and path. Never rejects: 404 and 405 if there is none, 500 if its handler
   * throws, 503 if the host does not run or the request was stopped, 504 if the time is up.
   *
   * @example
   * const answer = await host.routes.answer(new Request('http://localhost/metrics'));
   */
  answer(request: Request): Promise<Response>;
  /** Notes that requests come in from now on, so that the log does not warn of routes that nobody can reach. */
  open(): Disposable;
}

/** Offers the routes of a host to a server. */
export function hostRoutes(parts: HostParts, isRunning: () => boolean): HttpRoutes {
  const { routes } = parts;
  return {
    list: () =>
      routes.all().map(({ extensionId, route }) => {
        const { method, path, maxBodyBytes = usualBodyBytes } = route;
        return { extensionId, method, path, maxBodyBytes };
      }),
    answer: async (request) =>
      isRunning() ? answerRequest(parts, request) : refusal(503, 'the host does not run'),
    open: () => routes.open(),
  };
}
