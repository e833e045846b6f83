import type { Clock, SluiceError } from '../../kernel/index.js';
import { gatewayError } from '../errors.js';
import type { ResponseFrame } from '../protocol/frame.js';
import { refusalOf } from '../protocol/refusal.js';

/** Requests that may wait for an answer at once. */
const maxPending = 256;

interface Pending {
  readonly method: string;
  settle(error: unknown, payload?: unknown): void;
}

/** The requests that wait for their answers. Each ends once, and leaves no timer behind. */
export class PendingRequests {
  readonly #pending = new Map<string, Pending>();
  readonly #clock: Clock;
  readonly #redact: (text: string) => string;

  constructor(clock: Clock, redact: (text: string) => string) {
    this.#clock = clock;
    this.#redact = redact;
  }

  get size(): number {
    return this.#pending.size;
  }

  /**
   * Sends a request, and waits for its answer.
   *
   * @param send puts it on the wire; what it throws is thrown on.
   */
  add(
    id: string,
    method: string,
    { timeoutMs, signal }: { readonly timeoutMs: number; readonly signal?: AbortSignal },
    send: () => void,
  ): Promise<unknown> {
    if (this.#pending.size >= maxPending)
      throw gatewayError('gateway-busy', {
        method,
        problem: `${maxPending} requests wait for an answer`,
      });
    return new Promise((resolve, reject) => {
      const timer = this.#clock.setTimeout(() => {
        settle(gatewayError('gateway-timed-out', { method, timeoutMs }));
      }, timeoutMs);
      const onAbort = (): void => settle(gatewayError('request-aborted', { method }));
      const settle: Pending['settle'] = (error, payload) => {
        if (!this.#pending.delete(id)) return;
        this.#clock.clearTimeout(timer);
        signal?.removeEventListener('abort', onAbort);
        if (error === undefined) resolve(payload);
        else reject(error);
      };
      this.#pending.set(id, { method, settle });
      signal?.addEventListener('abort', onAbort, { once: true });
      if (signal?.aborted === true) return onAbort();
      try {
        send();
      } catch (error) {
        settle(error); // also where the parameters are no JSON
      }
    });
  }

  /** An answer came. @returns whether somebody waited for it. */
  answer({ id, ok, payload, error }: ResponseFrame): boolean {
    const pending = this.#pending.get(id);
    if (pending === undefined) return false;
    if (ok) pending.settle(undefined, payload);
    else {
      const { code, message } = refusalOf(error);
      pending.settle(
        gatewayError('gateway-refused', {
          method: pending.method,
          reason: this.#redact(code),
          problem: this.#redact(message),
        }),
      );
    }
    return true;
  }

  /** No answer can come any more: the connection is gone. Whether a request was received is not known. */
  endAll(): void {
    for (const { method, settle } of [...this.#pending.values()]) settle(this.#lost(method));
  }

  #lost(method: string): SluiceError {
    return gatewayError('gateway-disconnected', { method });
  }
}
