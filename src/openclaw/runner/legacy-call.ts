import {
  type Call,
  definedFields,
  type Fields,
  isFields,
  isThenable,
  type Own,
} from 'sluice-kernel/internal';
import { withoutLive } from '../facts/plain-records.js';
import type { Answer, AtCall, HookPart, LegacyHookRow, LegacyView } from '../hooks/row.js';
import { callHandler, isEligible, isolated } from './call-handler.js';
import { EventWatch, fieldsWritten, ownCopyOf } from './event-watch.js';
import type { Registered } from './registration.js';

/** Hears the failures of handlers, for the host that called the legacy runner. */
export interface CallListener {
  /** A handler threw, or its promise was rejected. */
  failed(registered: Registered, error: unknown): void;
  /** A handler of a synchronous hook returned a promise. */
  promised(registered: Registered): void;
  /** An answer ends the call. */
  decided(registered: Registered, label: string): void;
}

/** The state of one handler in this dispatch. It is called once, however many contributions it has. */
type Memo =
  | { readonly state: 'open' | 'failed' }
  | ({ readonly state: 'answered' } & Partial<Answer>);

/** One contribution of a handler while it is called. */
interface Taking {
  readonly registered: Registered;
  readonly part: HookPart;
  readonly own: Own;
  readonly at: AtCall;
  /** Watches the copy of the event that this handler alone has. */
  readonly watch: EventWatch | undefined;
}

/** Hears which fields of the event a handler wrote in vain, because no code reads them there. */
type ReportInPlace = (registered: Registered, fields: readonly string[], own: Own) => void;

/**
 * One dispatch as the handlers of one hook see it: the event and context that they share, and what each of them
 * answered. All legacy handlers of a dispatch share one mutable event, as in the real runner; the envelope stays frozen.
 *
 * A handler has a memo here, since the kernel calls each of its contributions and the plugin expects one call: the first
 * contribution calls it, the others read what it answered. The event is watched, since plugins write to it: where the
 * legacy caller reads a field back, the write is an answer; elsewhere the plugin is told that it has no effect.
 */
export class LegacyCall {
  readonly hook: string;
  readonly row: LegacyHookRow;
  readonly #view: LegacyView;
  #watch: EventWatch | undefined;
  readonly #reportInPlace: ReportInPlace;
  readonly #listener: CallListener | undefined;
  readonly #memos = new Map<Registered, Memo>();
  readonly #apart = new Map<Registered, LegacyCall>();
  /** By envelope: a call that is kept for its run must not keep the transcripts of its stages. */
  #payloads: WeakMap<object, Omit<AtCall, 'earlier'>> | undefined;
  /** The event that all handlers of this call have. */
  #shared: object | undefined;
  #isEnded = false;
  /** The failures of a void hook's handlers, if nobody listens. */
  readonly failures: { readonly registered: Registered; readonly error: unknown }[] = [];
  /** One promise per handler that returned one: each settles with it, and rejects with what the listener made of it. */
  readonly settling: Promise<unknown>[] = [];
  /** It serves a later stage of its run: who was not called in the earlier one is not called now. */
  isCarried = false;

  constructor(
    hook: string,
    row: LegacyHookRow,
    view: LegacyView,
    reportInPlace: ReportInPlace,
    listener?: CallListener,
  ) {
    this.hook = hook;
    this.row = row;
    this.#view = view;
    this.#reportInPlace = reportInPlace;
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
   * The call as a handler in audit mode has it: with an event of its own, and with nobody who hears of its answers and failures
   * (judgement §3.2).
   */
  apart(registered: Registered): LegacyCall {
    const known = this.#apart.get(registered);
    if (known !== undefined) return known;
    const view = { ...this.#view, event: ownCopyOf(this.#view.event) };
    const apart = new LegacyCall(this.hook, this.row, view, this.#reportInPlace);
    apart.isCarried = this.isCarried;
    this.#apart.set(registered, apart);
    return apart;
  }

  /** Forgets a handler that has been taken out: what it answered goes with it. */
  forget(registered: Registered): void {
    this.#memos.delete(registered);
    this.#apart.delete(registered);
  }

  /**
   * One contribution of a handler: calls it, if no contribution has yet, and gives the part of its answer that this one
   * may return. Throws, or rejects, as the handler does.
   */
  take(registered: Registered, part: HookPart, call: Call, own: Own): unknown {
    const memo = this.#memos.get(registered);
    const at = { ...this.#payloadsOf(call), earlier: () => this.#earlier(registered) };
    const taking = (watch?: EventWatch): Taking => ({ registered, part, own, at, watch });
    if (memo?.state === 'answered') return this.#read(taking(), memo);
    if (memo !== undefined && this.row.isClosed === true)
      throw new Error(`its handler of ${this.hook} failed`); // of which nobody knows what it would have refused
    if (memo !== undefined || this.isCarried || this.#isEnded) return undefined; // that is told already
    const { ctx } = this.#view;
    if (!isEligible(registered, this.#view.event, ctx)) return undefined;
    this.#memos.set(registered, { state: 'open' });
    let watch: EventWatch | undefined;
    let chained: object | undefined;
    let given: object;
    let result: unknown;
    let isPromise: boolean;
    try {
      const event = this.#eventOf();
      const left = this.row.chains?.(Object(call.payload) as Fields, event); // a payload is a record
      chained = left && { ...event, ...left };
      given = chained === undefined ? event : { ...chained };
      if (this.row.copies === 'each') watch = new EventWatch(event);
      else if (chained === undefined) this.#watch ??= new EventWatch(event);
      result = callHandler(registered, given, ctx);
      isPromise = isThenable(result);
    } catch (error) {
      this.#fail(registered, error, own);
      throw error;
    }
    if (chained !== undefined) this.#reportLost(registered, fieldsWritten(chained, given), own);
    const taken = taking(watch);
    if (!isPromise) return this.#answer(taken, result);
    if (this.row.kind === 'void') this.#written(registered, own); // before the next handler writes
    if (this.row.kind === 'sync') {
      this.#memos.set(registered, { state: 'failed' });
      this.#listener?.promised(registered);
      return result; // the kernel refuses it, and observes its rejection
    }
    const signal = this.row.oncePerRun === true ? call.signal : undefined;
    const answered = Promise.resolve(result).then(
      (value) => {
        this.#disown();
        if (signal?.aborted !== true) return this.#answer(taken, value);
        this.#memos.set(registered, { state: 'failed' }); // too late for this stage, and for the next
        return undefined;
      },
      (error: unknown) => {
        this.#disown();
        this.#fail(registered, error, own);
        throw error;
      },
    );
    answered.catch(() => undefined); // the code that waits for it hears of it
    this.settling.push(answered);
    return answered;
  }

  #answer(taking: Taking, returned: unknown): unknown {
    const { registered, own, watch } = taking;
    const written = this.#written(registered, own, watch);
    if (this.row.kind === 'void') {
      this.#memos.set(registered, { state: 'answered' });
      return undefined; // whatever a void handler returns is nobody's
    }
    let value: Fields | undefined;
    let result = returned;
    try {
      if (returned !== undefined) result = this.row.decisionOf?.(returned) ?? returned;
      value = answeredFields(result, this.row, this.#view.event);
    } catch (error) {
      this.#fail(registered, error, own);
      throw error;
    }
    if (value === undefined && result !== undefined && result !== null) {
      this.#memos.set(registered, { state: 'answered' }); // it says nothing, as in OpenClaw
      return this.row.kind === 'sync' ? undefined : result; // the kernel refuses it, and says what it is
    }
    const memo: Memo = { state: 'answered', ...definedFields({ value }), inPlace: written };
    this.#memos.set(registered, memo);
    const label = this.row.ends?.(value);
    if (label !== undefined) {
      this.#isEnded = true;
      this.#listener?.decided(registered, label);
    }
    return this.#read(taking, memo);
  }

  /** The part of an answer that a contribution may return. It can still throw: an answer may have accessors. */
  #read({ registered, part, own, at }: Taking, { value, inPlace }: Partial<Answer>): unknown {
    if (value === undefined && inPlace === undefined) return undefined;
    try {
      return part.read?.({ value: value ?? {}, inPlace }, at);
    } catch (error) {
      this.#fail(registered, error, own);
      throw error;
    }
  }

  /** Kept for a hook of several stages only: a handler of another comes upon the payload that it reads. */
  #earlier(registered: Registered): readonly Fields[] {
    return this.answers.filter((one) => one.registered !== registered).map(({ value }) => value);
  }

  /** The event that a handler is called with. */
  #eventOf(): object {
    const { event } = this.#view;
    const { copies } = this.row;
    if (copies === 'each') return isolated(this.hook, event);
    this.#shared ??= copies === undefined ? event : isolated(this.hook, event);
    return this.#shared;
  }

  #payloadsOf({ event, payload }: Call): Omit<AtCall, 'earlier'> {
    if (this.row.oncePerRun === undefined) return { emitted: event.payload, begun: payload };
    this.#payloads ??= new WeakMap();
    const payloads = this.#payloads.get(event) ?? { emitted: event.payload, begun: payload };
    this.#payloads.set(event, payloads);
    return payloads;
  }

  #fail(registered: Registered, error: unknown, own: Own): void {
    this.#written(registered, own);
    this.#memos.set(registered, { state: 'failed' });
    if (this.#listener !== undefined) this.#listener.failed(registered, error);
    else if (this.row.kind === 'void') this.failures.push({ registered, error });
  }

  /** Forgets the writes of a void hook while several handlers run: nobody can say which of them wrote. */
  #disown(): void {
    if (this.row.kind !== 'void') return;
    const open = [...this.#memos.values()].filter(({ state }) => state === 'open');
    if (open.length > 1) this.#watch?.take();
  }

  /** Gives the fields that the handler wrote in place, if they count. Fields that do not count are told. */
  #written(registered: Registered, own: Own, watch = this.#watch): Fields | undefined {
    const written = watch?.take();
    if (written === undefined) return undefined;
    const counts = this.row.honoursInPlace;
    const { fields, params } = written;
    const lost = fields.filter(
      (field) =>
        counts === undefined ||
        !field.startsWith(`${counts}.`) ||
        !Object.hasOwn(params ?? {}, field.slice(counts.length + 1)),
    );
    this.#reportLost(registered, lost, own);
    return counts === undefined ? undefined : params;
  }

  #reportLost(registered: Registered, fields: readonly string[], own: Own): void {
    if (fields.length > 0) this.#reportInPlace(registered, fields, own);
  }
}

/**
 * Reads a handler's result, each field once; `undefined` if it is no object. Live objects that the event holds already
 * are left out: plugins return `{ params: { ...event.params, path } }`.
 *
 * @throws what an accessor of it throws.
 */
function answeredFields(
  result: unknown,
  { honoursInPlace }: Pick<LegacyHookRow, 'honoursInPlace'>,
  event: object,
): Fields | undefined {
  if (!isFields(result)) return undefined;
  const value = isBare(result) ? { ...result } : result;
  if (honoursInPlace === undefined) return value;
  const record = value[honoursInPlace];
  if (!isFields(record)) return value;
  return { ...value, [honoursInPlace]: withoutLive(record, (event as Fields)[honoursInPlace]) };
}

/** Returns whether an object has no class: its own fields are then its whole content. */
function isBare(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}
