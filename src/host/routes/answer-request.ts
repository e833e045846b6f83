import { randomUUID } from 'node:crypto';
import { tapRelayOf } from '@sluice/sdk/extension/internal';
import { onAbort, Timer } from 'sluice-kernel/internal';
import { shareOf } from '../lanes/shares.js';
import { callWithin } from '../parts/attempt.js';
import type { HostParts } from '../parts/parts.js';
import { type NodeExchange, nameOfRoute, type OwnedRoute } from '../provided/routes.js';

/** Requests that are answered at once, of all routes; one of several extensions has its share of them. */
const runningAtMost = 64;
const usualTimeoutMs = 30_000;
/** Milliseconds for which the body of an answer holds a reload: a stream may go on for long. */
const bodyHoldsMs = 1_000;
/** The reason of an abort: the time is up. */
const late = Symbol('late');

type Parts = Pick<HostParts, 'kernel' | 'gate' | 'routes' | 'clock' | 'logger'>;

/**
 * Answers a request by the route of its method and path (extensions-that-act §9). A reload waits for it, and for the first second
 * of its body.
 * Never rejects.
 */
export async function answerRequest(
  parts: Parts,
  request: Request,
  at?: NodeExchange,
): Promise<Response> {
  await parts.gate.enter();
  const owned = routeFor(parts, request);
  if (!(owned instanceof Response)) return answerBy(parts, owned, request, at);
  parts.gate.leave();
  return owned;
}

/** Finds the route of a request, or says why there is none. */
function routeFor({ routes }: Parts, request: Request): OwnedRoute | Response {
  const { pathname } = new URL(request.url);
  const there = routes.at(pathname);
  if (there.length === 0) return refusal(404, 'there is no such path');
  const method = request.method === 'HEAD' ? 'GET' : request.method;
  const owned = there.find(({ route }) => route.method === '*' || route.method === method);
  if (owned === undefined) return wrongMethod(there.map(({ route }) => route));
  const owners = new Set(routes.all().map(({ extensionId }) => extensionId));
  const running = [...routes.running.values()];
  const ofOwner = running.filter(({ extensionId }) => extensionId === owned.extensionId).length;
  const isOverShare = owners.size > 1 && ofOwner >= shareOf(runningAtMost);
  if (running.length >= runningAtMost || isOverShare)
    return refusal(503, 'too many requests are being answered', { 'retry-after': '1' });
  return owned;
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

/** The answer to a method that no route of a path has. */
export function wrongMethod(there: readonly Pick<OwnedRoute['route'], 'method'>[]): Response {
  const allow = there.map(({ method }) => method).join(', ');
  return refusal(405, `only ${allow}`, { allow });
}

/** Answers a request, and leaves the gate when the answer has ended, or its body has lasted. */
async function answerBy(
  parts: Parts,
  owned: OwnedRoute,
  request: Request,
  at: NodeExchange | undefined,
): Promise<Response> {
  const { routes, clock, logger, gate } = parts;
  const { extensionId, route } = owned;
  const { handler: answerOf, timeoutMs = usualTimeoutMs } = route;
  const requestId = randomUUID();
  const stop = new AbortController();
  const timer = new Timer(clock);
  timer.setIdly(timeoutMs, () => stop.abort(late));
  routes.running.set(stop, owned);
  const left = onAbort(request.signal, () => stop.abort());
  let isHeld = true;
  const letGo = (): void => {
    if (isHeld) gate.leave();
    isHeld = false;
  };
  const holding = new Timer(clock);
  const done = (): void => {
    timer.clear();
    holding.clear();
    routes.running.delete(stop);
    letGo();
    left[Symbol.dispose]();
  };
  const about = { extensionId, route: nameOfRoute(route), requestId };
  const failed = (error: unknown): void => {
    done();
    logger.error('a route failed', { ...about, error });
  };
  let error: unknown;
  const relayed = (given: Request) =>
    tapRelayOf(parts.kernel).run(() => answerOf(given, at), { extensionId, request: given });
  const end = await callWithin(
    async () => {
      try {
        const answer = wholeAnswer(await relayed(new Request(request, { signal: stop.signal })));
        if (stop.signal.aborted) discard(answer); // nobody waits for it any more
        return answer;
      } catch (thrown) {
        error = thrown;
        throw thrown;
      }
    },
    clock,
    undefined,
    stop.signal,
  );
  const isLate = (): boolean => stop.signal.reason === late;
  const ended = (): void => {
    done();
    if (isLate()) logger.warn('a route took too long', { ...about, timeoutMs });
  };
  if (end.status === 'returned') {
    const { value: answer } = end;
    if (answer.body !== null && request.method !== 'HEAD') {
      holding.setIdly(bodyHoldsMs, letGo);
      return new Response(boundedBody(answer.body, stop.signal, { done: ended, failed }), answer);
    }
    discard(answer);
    done();
    return new Response(null, answer);
  }
  const id = { 'x-request-id': requestId };
  if (end.status === 'threw') {
    failed(error);
    return refusal(500, `the route failed; the log has the request ${requestId}`, id);
  }
  ended();
  if (!isLate()) return refusal(503, 'the request was stopped', id);
  return refusal(504, `the route took too long; the log has the request ${requestId}`, id);
}

/** Ends the source of a body that nobody reads. */
function discard({ body }: Response): void {
  void body?.cancel().catch(() => undefined);
}

/** Checks what a handler has returned. @throws TypeError if it cannot be the answer. */
function wholeAnswer(answer: unknown): Response {
  if (!(answer instanceof Response)) throw new TypeError('the handler returned no Response');
  if (answer.type === 'error') throw new TypeError('the handler returned Response.error()');
  if (answer.bodyUsed || answer.body?.locked === true)
    throw new TypeError(
      'the body of the Response was read before: each request needs one of its own',
    );
  return answer;
}

/** The ends that the body of an answer may have. */
interface BodyEnds {
  /** All of it was read, nobody wants the rest, or it was stopped. */
  done(): void;
  /** Its source has thrown. */
  failed(error: unknown): void;
}

/** Passes a body on. It breaks off when the signal aborts; one of the ends is called once. */
function boundedBody(
  body: ReadableStream<Uint8Array>,
  signal: AbortSignal,
  ends: BodyEnds,
): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  let isOver = false;
  const isFirst = (): boolean => !isOver && (isOver = true);
  return new ReadableStream<Uint8Array>(
    {
      start: (out) => {
        const stop = (): void => {
          if (!isFirst()) return;
          out.error(signal.reason);
          ends.done();
          reader.cancel(signal.reason).catch(() => undefined); // nobody reads it any more
        };
        onAbort(signal, stop);
      },
      pull: async (out) => {
        try {
          const part = await reader.read();
          if (isOver) return;
          if (!part.done) out.enqueue(part.value);
          else if (isFirst()) {
            out.close();
            ends.done();
          }
        } catch (error) {
          if (isFirst()) ends.failed(error);
          throw error;
        }
      },
      cancel: (reason) => {
        if (isFirst()) ends.done();
        return reader.cancel(reason);
      },
    },
    { highWaterMark: 0 },
  );
}
