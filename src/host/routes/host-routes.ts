import type { HostParts } from '../parts/parts.js';
import {
  type HttpRoute,
  type NodeExchange,
  type OwnedRoute,
  usualBodyBytes,
} from '../provided/routes.js';
import { answerRequest, refusal } from './answer-request.js';

/** A route of an extension or of a plugin that is live. */
export interface HttpRouteStatus {
  readonly extensionId: string;
  /** `*` for a route of a plugin, which takes each method. */
  readonly method: HttpRoute['method'] | '*';
  readonly path: string;
  readonly maxBodyBytes: number;
}

/** The routes of the extensions that are live. `startHealthServer` serves them at its port. */
export interface HttpRoutes {
  list(): readonly HttpRouteStatus[];
  /** The routes that a request for a path can be answered by. */
  at(path: string): readonly HttpRouteStatus[];
  /**
   * Answers a request by the route of its method and path. Never rejects: 404 and 405 if there is none, 500 if its handler
   * throws, 503 if the host does not run or the request was stopped, 504 if the time is up.
   *
   * @param at the request as Node has it: a route of a plugin answers by its response, and the result counts for nothing if that
   *   has begun. Without it, such a route gives 501.
   * @example
   * const answer = await host.routes.answer(new Request('http://localhost/metrics'));
   */
  answer(request: Request, at?: NodeExchange): Promise<Response>;
  /** Notes that requests come in from now on, so that the log does not warn of routes that nobody can reach. */
  open(): Disposable;
}

/** Offers the routes of a host to a server. */
export function hostRoutes(parts: HostParts, isRunning: () => boolean): HttpRoutes {
  const { routes } = parts;
  const statusOf = ({ extensionId, route }: OwnedRoute): HttpRouteStatus => {
    const { method, path, maxBodyBytes = usualBodyBytes } = route;
    return { extensionId, method, path, maxBodyBytes };
  };
  return {
    list: () => routes.all().map(statusOf),
    at: (path) => routes.at(path).map(statusOf),
    answer: async (request, at) =>
      isRunning() ? answerRequest(parts, request, at) : refusal(503, 'the host does not run'),
    open: () => routes.open(),
  };
}
