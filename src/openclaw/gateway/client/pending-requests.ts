import { type Clock, type Deferred, deferred, onAbort, Timer } from 'sluice-kernel/internal';
import { gatewayError } from '../errors.js';
import { type ResponseFrame, refusalOf } from '../protocol/frame.js';

/** Bounds the requests that wait for an answer at once. */
const maxPending = 256;
const tooMany = `${maxPending} requests wait for an answer`;

interface Bounds {
  readonly timeoutMs: number;
  readonly signal: AbortSignal | undefined;
}

/** The requests that wait for their answers. Each ends once, and leaves no timer behind. */
export function pendingRequests(clock: Clock, redact: (text: string) => string) {
  const waiting = new Map<string, Deferred<unknown> & { readonly method: string }>();

  return {
    size: (): number => waiting.size,

    /**
     * Sends a request, and waits for its answer.
     *
     * @param send puts the request on the wire. What it throws is thrown on, also if the parameters are no JSON.
     */
    async add(
      id: string,
      method: string,
      { timeoutMs, signal }: Bounds,
      send: () => void,
    ): Promise<unknown> {
      if (waiting.size >= maxPending)
        throw gatewayError('gateway-busy', { method, problem: tooMany });
      const answer = deferred<unknown>();
      waiting.set(id, { ...answer, method });
      using timer = new Timer(clock);
      timer.set(timeoutMs, () =>
        answer.reject(gatewayError('gateway-timed-out', { method, timeoutMs })),
      );
      using _abort = onAbort(signal, () =>
        answer.reject(gatewayError('request-aborted', { method })),
      );
      try {
        if (signal?.aborted !== true) send();
        return await answer.promise;
      } finally {
        waiting.delete(id);
      }
    },

    /** Brings an answer to its request. @returns true if somebody waited for it. */
    answer({ id, ok, payload, error }: ResponseFrame): boolean {
      const pending = waiting.get(id);
      if (pending === undefined) return false;
      waiting.delete(id);
      if (ok) pending.resolve(payload);
      else {
        const { code, message } = refusalOf(error);
        const { method } = pending;
        const details = { method, reason: redact(code), problem: redact(message) };
        pending.reject(gatewayError('gateway-refused', details));
      }
      return true;
    },

    /** Ends all requests: the connection is gone. Nobody knows which of them the gateway has received. */
    endAll(): void {
      for (const { method, reject } of waiting.values())
        reject(gatewayError('gateway-disconnected', { method }));
      waiting.clear();
    },
  };
}

/** The parts of `pendingRequests` that others use. */
export type PendingRequests = ReturnType<typeof pendingRequests>;
