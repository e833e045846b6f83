import { randomUUID } from 'node:crypto';
import type { HostParts } from '../parts/parts.js';
import { callWithin } from '../parts/within-time.js';
import { nameOfRoute, type OwnedRoute } from '../provided/routes.js';

/** Requests that are answered at once, of all routes. */
const runningAtMost = 64;
const usualTimeoutMs = 30_000;
/** The reason of an abort: the time is up. */
const late = Symbol('late');

type Parts = Pick<HostParts, 'gate' | 'routes' | 'clock' | 'logger'>;

/** Answers a request by the route of its method and path (extensions-that-act §9). Never rejects. */
export function answerRequest(parts: Parts, request: Request): Promise<Response> {
  return parts.gate.pass(async () => {
    const { running } = parts.routes;
    const { pathname } = new URL(request.url);
    const there = parts.routes.all().filter(({ route }) => route.path === pathname);
    if (there.length === 0) return refusal(404, 'there is no such path');
    const method = request.method === 'HEAD' ? 'GET' : request.method;
    const owned = there.find(({ route }) => route.method === method);
    if (owned === undefined) {
      const allow = there.map(({ route }) => route.method).join(', ');
      return refusal(405, `only ${allow}`, { allow });
    }
    if (running.size >= runningAtMost)
      return refusal(503, 'too many requests are being answered', { 'retry-after': '1' });
    return answerBy(parts, owned, request);
  });
}

/** An answer of the host itself, which holds no text of anybody. */
export function refusal(
  status: number,
  error: string,
  more: Readonly<Record<string, string>> = {},
): Response {
  const headers = { 'cache-control': 'no-store', ...more };
  return Response.json({ error }, { status, headers });
}

async function answerBy(parts: Parts, owned: OwnedRoute, request: Request): Promise<Response> {
  const { routes, clock, logger } = parts;
  const { extensionId, route } = owned;
  const { handler: answerOf, timeoutMs = usualTimeoutMs } = route;
  const requestId = randomUUID();
  const stop = new AbortController();
  const leave = (): void => stop.abort();
  const timer = clock.setTimeout(() => stop.abort(late), timeoutMs);
  timer.unref?.();
  routes.running.set(stop, owned);
  request.signal.addEventListener('abort', leave, { once: true });
  if (request.signal.aborted) leave();
  const done = (): void => {
    clock.clearTimeout(timer);
    routes.running.delete(stop);
    request.signal.removeEventListener('abort', leave);
  };
  let error: unknown;
  const end = await callWithin(
    async () => {
      try {
        const answer: unknown = await answerOf(new Request(request, { signal: stop.signal }));
        if (answer instanceof Response) return answer;
        throw new TypeError('the handler returned no Response');
      } catch (thrown) {
        error = thrown;
        throw thrown;
      }
    },
    clock,
    undefined,
    stop.signal,
  );
  if (end.status === 'returned') return bounded(end.value, request.method, stop.signal, done);
  done();
  const about = { extensionId, route: nameOfRoute(route), requestId };
  const id = { 'x-request-id': requestId };
  if (end.status === 'threw') {
    logger.error('a route failed', { ...about, error });
    return refusal(500, `the route failed; the log has the request ${requestId}`, id);
  }
  if (stop.signal.reason !== late) return refusal(503, 'the request was stopped', id);
  logger.warn('a route took too long', { ...about, timeoutMs });
  return refusal(504, `the route took too long; the log has the request ${requestId}`, id);
}

/** Has the body of an answer end when the signal aborts. @param done is called when all of it is read. */
function bounded(
  answer: Response,
  method: string,
  signal: AbortSignal,
  done: () => void,
): Response {
  if (answer.body === null || method === 'HEAD') {
    void answer.body?.cancel();
    done();
    return new Response(null, answer);
  }
  signal.addEventListener('abort', done, { once: true });
  const through = new TransformStream({ flush: done });
  return new Response(answer.body.pipeThrough(through, { signal }), answer);
}
