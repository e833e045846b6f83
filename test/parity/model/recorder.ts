import type { ParityCall, ParityEnding, ParityLine } from '../../../src/openclaw/parity/index.js';
import { type Fields, type HookSet, returned, snapshot, thrown, write } from '../hooks/hook-set.js';
import type { Observation } from '../hooks/observe.js';

/** How a call of a handler ends: with a value, or with an error. */
export type Ending = { readonly value: unknown } | { readonly error: unknown };

/** A call that has begun: it ends when it is time, or has failed at once. */
export type Begun =
  | { readonly end: () => Ending; readonly failed?: undefined }
  | { readonly failed: { readonly error: unknown } };

/** What a model writes down while it follows a set. */
export class Recorder {
  readonly #set: HookSet;
  /** The host's own objects: handlers may write to them. */
  readonly event: Fields;
  readonly ctx: Fields;
  readonly #calls: ParityCall[] = [];
  readonly #log: ParityLine[] = [];
  readonly #order: string[] = [];
  readonly #notes: string[] = [];
  readonly #labels = new WeakMap<object, string>();
  readonly unhandled: string[] = [];

  constructor(set: HookSet) {
    this.#set = set;
    this.event = snapshot(set.event);
    this.ctx = snapshot(set.ctx);
    this.label(this.event['message'], 'the emitted message');
  }

  /** A handler is called; what it does in place it does. How it ends is asked for when it does. */
  call(index: number, given: Fields, isAtOnce: boolean): Begun {
    const spec = this.#spec(index);
    const seen = { event: snapshot(given), ctx: snapshot(this.ctx) };
    const isHostsEvent = given === this.event;
    this.#calls.push({ handler: index, pluginId: spec.pluginId, ...seen, isHostsEvent, isAtOnce });
    this.note(`call ${index}`);
    const { message } = given;
    this.#notes.push(`${index} got ${isObject(message) ? this.#labels.get(message) : undefined}`);
    try {
      write(spec.writes, given, this.ctx);
    } catch (error) {
      return { failed: { error } }; // what it wants to write to is frozen
    }
    const end = (): Ending => {
      if ('throws' in spec.ends) return { error: thrown(spec.ends.throws) };
      const value = returned(spec.ends.returns, given);
      this.label((value as Fields | null | undefined)?.['message'], `the message of ${index}`);
      return { value };
    };
    return { end };
  }

  tell(level: ParityLine['level'], text: string): void {
    this.#log.push({ level, text });
    this.note(`${level} ${text}`);
  }

  note(text: string): void {
    this.#order.push(text);
  }

  /** The first name of an object stands. */
  label(value: unknown, text: string): void {
    if (isObject(value) && !this.#labels.has(value)) this.#labels.set(value, text);
  }

  done(ending: ParityEnding, handlers: number, chains: boolean): Observation {
    const value = ending.kind === 'returned' ? ending.value : undefined;
    const message = (value as Fields | undefined)?.['message'];
    const order = [...this.#order];
    if (chains) {
      order.push(...this.#notes);
      if (isObject(message)) order.push(`out came ${this.#labels.get(message)}`);
    }
    const { event, ctx, unhandled } = this;
    const counts = handlers === 0 ? {} : { [this.#set.hook]: handlers };
    return { counts, ending, calls: this.#calls, log: this.#log, order, event, ctx, unhandled };
  }

  #spec(index: number) {
    const spec = this.#set.handlers[index];
    if (spec === undefined) throw new RangeError(`There is no handler ${index}.`);
    return spec;
  }
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
