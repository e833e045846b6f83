import type { Call, Own } from '../kernel/index.js';
import { EventWatch } from './event-watch.js';
import type { Answer, Fields, HookPart, LegacyHookRow, LegacyView } from './hooks/row.js';
import { isFields } from './hooks/row.js';
import type { LegacyHookName } from './hooks/shapes.js';
import type { Registered } from './registration.js';

/** Who hears what became of the handlers: the host that called the legacy runner. */
export interface CallListener {
  /** A handler threw, or its promise was rejected. */
  failed(registered: Registered, error: unknown): void;
  /** A handler of a synchronous hook returned a promise. */
  promised(registered: Registered): void;
}

/** What one handler did in this dispatch. It is called once, however many contributions it has. */
type Memo =
  | { readonly state: 'open' | 'failed' }
  | ({ readonly state: 'answered' } & Partial<Answer>);

/** What a call tells of its handlers that wrote to the event where nobody reads it. */
export type TellInPlace = (registered: Registered, fields: readonly string[], own: Own) => void;

/**
 * One dispatch as the handlers of one hook see it: the event and context that they share, and what each of them
 * answered. All legacy handlers of a dispatch share one mutable event, as in the real runner; the envelope stays frozen.
 */
export class LegacyCall {
  readonly hook: LegacyHookName;
  readonly #row: LegacyHookRow;
  readonly #view: LegacyView;
  readonly #watch: EventWatch;
  readonly #tellInPlace: TellInPlace;
  readonly #listener: CallListener | undefined;
  readonly #memos = new Map<Registered, Memo>();
  /** One promise per handler that returned one: each settles with it, and rejects with what the listener made of it. */
  readonly settling: Promise<unknown>[] = [];
  /** It serves a later stage of its run: who was not called in the earlier one is not called now. */
  isCarried = false;

  constructor(
    hook: LegacyHookName,
    row: LegacyHookRow,
    view: LegacyView,
    tellInPlace: TellInPlace,
    listener?: CallListener,
  ) {
    this.hook = hook;
    this.#row = row;
    this.#view = view;
    this.#watch = new EventWatch(view.event);
    this.#tellInPlace = tellInPlace;
    this.#listener = listener;
  }

  /** The answers so far, in run order, with whose they are. */
  get answers(): readonly { readonly registered: Registered; readonly value: Fields }[] {
    return [...this.#memos].flatMap(([registered, memo]) =>
      memo.state === 'answered' && memo.value !== undefined
        ? [{ registered, value: memo.value }]
        : [],
    );
  }

  /**
   * One contribution of a handler: calls it, if no contribution has yet, and gives the part of its answer that this one
   * may return. Throws, or rejects, as the handler does.
   */
  take(registered: Registered, part: HookPart, call: Call, own: Own): unknown {
    const memo = this.#memos.get(registered);
    if (memo?.state === 'answered') return read(part, memo);
    if (memo !== undefined || this.isCarried) return undefined; // it failed, or was given up: that is told already
    this.#memos.set(registered, { state: 'open' });
    const { event, ctx } = this.#view;
    const given = this.#row.chains === undefined ? event : { ...event, ...messageOf(call) };
    let result: unknown;
    try {
      result = registered.answer(given as never, ctx as never); // the event of the hook that it is registered for
    } catch (error) {
      this.#fail(registered, error, own);
      throw error;
    }
    if (!isThenable(result)) return this.#answer(registered, part, result, own);
    if (this.#row.kind === 'sync') {
      this.#memos.set(registered, { state: 'failed' });
      this.#listener?.promised(registered);
      return result; // the kernel refuses it, and observes its rejection
    }
    const answered = Promise.resolve(result).then(
      (value) => this.#answer(registered, part, value, own),
      (error: unknown) => {
        this.#fail(registered, error, own);
        throw error;
      },
    );
    this.#settle(answered);
    return answered;
  }

  #answer(registered: Registered, part: HookPart, result: unknown, own: Own): unknown {
    const written = this.#written(registered, own);
    if (this.#row.kind === 'void') {
      this.#memos.set(registered, { state: 'answered' });
      return undefined; // whatever a void handler returns is nobody's
    }
    const isNothing = result === undefined || result === null;
    if (!isNothing && !isFields(result)) {
      this.#memos.set(registered, { state: this.#row.kind === 'sync' ? 'answered' : 'failed' });
      return this.#row.kind === 'sync' ? undefined : result; // the kernel refuses it, and says what it is
    }
    const memo: Memo = {
      state: 'answered',
      ...(!isNothing && { value: result }),
      inPlace: written,
    };
    this.#memos.set(registered, memo);
    return read(part, memo);
  }

  #fail(registered: Registered, error: unknown, own: Own): void {
    this.#memos.set(registered, { state: 'failed' });
    this.#written(registered, own);
    this.#listener?.failed(registered, error);
  }

  /** What the handler wrote in place, where that counts; where it does not, it is told. */
  #written(registered: Registered, own: Own): Fields | undefined {
    const written = this.#watch.take();
    if (written === undefined) return undefined;
    const counts = this.#row.honoursInPlace;
    const { fields, params } = written;
    const lost = fields.filter(
      (field) =>
        counts === undefined ||
        !field.startsWith(`${counts}.`) ||
        !Object.hasOwn(params ?? {}, field.slice(counts.length + 1)),
    );
    if (lost.length > 0) this.#tellInPlace(registered, lost, own);
    return counts === undefined ? undefined : params;
  }

  #settle(promise: Promise<unknown>): void {
    promise.catch(() => undefined); // whoever waits for it hears of it
    this.settling.push(promise);
  }
}

function read(part: HookPart, memo: Partial<Answer>): unknown {
  if (part.read === undefined) return undefined;
  if (memo.value === undefined && memo.inPlace === undefined) return undefined;
  return part.read({ value: memo.value ?? {}, inPlace: memo.inPlace });
}

/** What the handlers before have left of the message. */
function messageOf(call: Call): { readonly message: unknown } {
  return { message: (call.payload as { readonly message?: unknown }).message }; // the transcript families have one
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return (
    typeof value === 'object' &&
    value !== null &&
    typeof (value as { readonly then?: unknown }).then === 'function'
  );
}
