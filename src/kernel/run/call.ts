import type { Author, Outcome } from '../outcome.js';

/** The dispatch behind a call. */
export interface CallSource {
  /** The envelope; made when first read. */
  readonly event: object;
  /** No handler of it may dispatch any more. */
  readonly ended: boolean;
  nest(author: Author, family: string, payload: object): Outcome | Promise<Outcome>;
}

/**
 * What handlers are called with. It never changes: after a patch the next handlers get another. Handlers that
 * return synchronously share one; a handler that returns a promise keeps it for itself, so that its signal is its
 * own. Read-only by accessors, which costs less than freezing.
 */
export class HandlerCall {
  readonly #source: CallSource;
  readonly #payload: object;
  readonly #annotations: object;
  readonly #selection: object | undefined;
  #controller: AbortController | undefined;
  #abandoned: Error | undefined;

  constructor(
    source: CallSource,
    payload: object,
    annotations: object,
    selection: object | undefined,
  ) {
    this.#source = source;
    this.#payload = payload;
    this.#annotations = annotations;
    this.#selection = selection;
  }

  get event(): object {
    return this.#source.event;
  }

  get payload(): object {
    return this.#payload;
  }

  get annotations(): object {
    return this.#annotations;
  }

  get selection(): object | undefined {
    return this.#selection;
  }

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.#abandoned !== undefined) this.#controller.abort(this.#abandoned);
    }
    return this.#controller.signal;
  }

  /** The dispatch behind a call, or nothing where the value is no call of this kernel. */
  static sourceOf(value: unknown): CallSource | undefined {
    return typeof value === 'object' && value !== null && #source in value
      ? value.#source
      : undefined;
  }

  /** Whether its handler timed out or was aborted. */
  static isAbandoned(call: unknown): boolean {
    return typeof call === 'object' && call !== null && #source in call
      ? call.#abandoned !== undefined
      : false;
  }

  /** Tells the handler that nobody waits for it any more. */
  static abandon(call: HandlerCall, reason: Error): void {
    call.#abandoned = reason;
    call.#controller?.abort(reason);
  }
}
