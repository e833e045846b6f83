import type { Author, Outcome } from '../../outcome/outcome.js';

/** The dispatch behind a call. */
export interface CallSource {
  /** The envelope; made when first read. */
  readonly event: object;
  /** No handler of it may dispatch any more. */
  readonly ended: boolean;
  /** The payload as it stands, for the handler of a call to read. */
  payloadFor(call: object): object;
  /** The next handler gets another call: this one is its handler's own. */
  give(call: object): void;
  nest(author: Author, family: string, payload: object): Outcome | Promise<Outcome>;
}

/** What changes less often than the payload. */
export interface CallContext {
  readonly annotations: object;
  readonly selection: object | undefined;
}

/** The dispatch behind a call, or nothing where the value is no call of this kernel. */
export let sourceOf: (value: unknown) => CallSource | undefined;
/** Whether a call's handler timed out or was aborted. */
export let isAbandoned: (call: unknown) => boolean;
/** Tells a call's handler that nobody waits for it any more. */
export let abandonCall: (call: HandlerCall, reason: Error) => void;

/**
 * What handlers are called with. It never changes: after a patch the next handlers get another. Handlers that return
 * synchronously share one as long as the payload is one that all may read. Read-only by accessors, which costs less than
 * freezing.
 */
export class HandlerCall {
  readonly #source: CallSource;
  readonly #context: CallContext;
  /** Taken when it is first read. */
  #payload: object | undefined = undefined;
  /** The controller of its signal, once that is read; the reason if its handler was given up before. */
  #cut: AbortController | Error | undefined = undefined;

  constructor(source: CallSource, context: CallContext) {
    this.#source = source;
    this.#context = context;
  }

  get event(): object {
    return this.#source.event;
  }

  get payload(): object {
    return (this.#payload ??= this.#source.payloadFor(this));
  }

  get annotations(): object {
    return this.#context.annotations;
  }

  get selection(): object | undefined {
    return this.#context.selection;
  }

  get signal(): AbortSignal {
    if (this.#cut instanceof AbortController) return this.#cut.signal;
    const controller = new AbortController();
    if (this.#cut !== undefined) controller.abort(this.#cut);
    this.#cut = controller;
    this.#source.give(this);
    return controller.signal;
  }

  static {
    sourceOf = (value) =>
      typeof value === 'object' && value !== null && #source in value ? value.#source : undefined;
    isAbandoned = (call) => {
      if (typeof call !== 'object' || call === null || !(#source in call)) return false;
      return call.#cut instanceof AbortController
        ? call.#cut.signal.aborted
        : call.#cut !== undefined;
    };
    abandonCall = (call, reason) => {
      if (call.#cut instanceof AbortController) call.#cut.abort(reason);
      else call.#cut = reason;
    };
    Object.freeze(HandlerCall.prototype); // one handler cannot change what the others are called with
    Object.freeze(HandlerCall);
  }
}
