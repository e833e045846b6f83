import type { CallPass } from '../../handler/handler.js';
import { isOf } from '../../outcome/entry.js';
import type { Author, Outcome } from '../../outcome/outcome.js';
import type { Principal } from '../../outcome/principal.js';
import type { Gate } from '../../stage/vocabulary.js';

/** The dispatch behind a call. */
export interface CallSource {
  /** The envelope; made when first read. */
  readonly event: object;
  readonly principal: Principal | undefined;
  readonly terms: { readonly observeOnly: boolean };
  /** No handler of it may dispatch any more. */
  readonly ended: boolean;
  /** The payload as it stands, for the handler of a call to read. */
  payloadFor(call: object): object;
  /** The next handler gets another call: this one is its handler's own. */
  give(call: object): void;
  nest(author: Author, family: string, payload: object): Outcome | Promise<Outcome>;
}

/** The parts of a call that change less often than the payload. */
export interface CallContext {
  readonly annotations: object;
  readonly selection: object | undefined;
  readonly pass: CallPass;
}

/** Makes the context of calls: one literal, so that all have one hidden class. */
export function contextOf(
  annotations: object,
  selection: object | undefined,
  pass: CallPass,
): CallContext {
  return { annotations, selection, pass };
}

/** Returns the dispatch behind a call; nothing if the value is no call of this kernel. */
export let sourceOf: (value: unknown) => CallSource | undefined;
/** Returns whether a handler that a call was made for was given up. Handlers that returned before it may have the same call. */
export let isGivenUp: (call: unknown, author: Author) => boolean;
/** Tells the handler that was called last with a call that nobody waits for it any more. */
export let abandonCall: (call: HandlerCall, by: Author, reason: Error) => void;

/** The parts that few calls have: a signal that was read, or a handler that was given up. */
interface Cut {
  controller: AbortController | undefined;
  readonly by: Author | undefined;
  readonly reason: Error | undefined;
}

/**
 * The call that handlers get. It never changes: after a patch the next handlers get another. Handlers that return
 * synchronously share one as long as the payload is one that all may read. Read-only by accessors, which costs less than
 * freezing.
 */
export class HandlerCall {
  readonly #source: CallSource;
  readonly #context: CallContext;
  /** Taken when it is first read. */
  #payload: object | undefined = undefined;
  #cut: Cut | undefined = undefined;

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

  get principal(): Principal | undefined {
    return this.#source.principal;
  }

  get pass(): CallPass {
    return this.#context.pass;
  }

  get gate(): Gate {
    return this.#source.terms.observeOnly ? 'observe-only' : 'enforce';
  }

  get signal(): AbortSignal {
    this.#cut ??= { controller: undefined, by: undefined, reason: undefined };
    const cut = this.#cut;
    if (cut.controller !== undefined) return cut.controller.signal;
    cut.controller = new AbortController();
    if (cut.reason !== undefined) cut.controller.abort(cut.reason);
    this.#source.give(this);
    return cut.controller.signal;
  }

  static {
    sourceOf = (value) =>
      typeof value === 'object' && value !== null && #source in value ? value.#source : undefined;
    isGivenUp = (call, author) =>
      typeof call === 'object' && call !== null && #source in call && isOf(call.#cut?.by, author);
    abandonCall = (call, by, reason) => {
      const controller = call.#cut?.controller;
      call.#cut = { controller, by, reason };
      controller?.abort(reason);
    };
    Object.freeze(HandlerCall.prototype); // one handler cannot change what the others are called with
    Object.freeze(HandlerCall);
  }
}
