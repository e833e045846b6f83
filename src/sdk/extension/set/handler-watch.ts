import { type AsyncHook, createHook, executionAsyncResource } from 'node:async_hooks';
import nodeProcess from 'node:process';
import {
  type Clock,
  type Envelope,
  type Instrument,
  type Kernel,
  type Logger,
  nameOf,
  oneLine,
  systemClock,
  Timer,
} from 'sluice-kernel/internal';
import { type TapRelay, tapRelayOf } from '../load/tap-relay.js';
import { LoopClock } from './loop-clock.js';

/** The options of a watch. */
export interface HandlerWatchOptions {
  readonly logger: Logger;
  readonly clock?: Clock;
  /** Lays a stray rejection at the door of its extension; by default it does. */
  readonly attributeRejections?: boolean;
  /** Milliseconds of blocking from which on it is reported, by default 500; `false` reports none. */
  readonly blockedAfterMs?: number | false;
  /** The process whose stray rejections are heard, by default this one. */
  readonly process?: Pick<NodeJS.Process, 'on' | 'off'>;
}

/** Milliseconds between two looks at the event loop. */
const beatMs = 250;

/**
 * Watches the side effects of handlers (spec §13.11): promises that they leave behind and that are rejected, and the time for
 * which they block the event loop. Give its `instrument` to the kernel, its `around` to the extension set, and the kernel to
 * `watch`; call `watchLoop` when the host has started. A handler that is not watched costs nothing.
 *
 * @example
 * using watch = new HandlerWatch({ logger });
 * const kernel = createKernel({ instrument: watch.instrument, quarantine: {} });
 * watch.watch(kernel);
 * await host.start();
 * watch.watchLoop();
 */
export class HandlerWatch implements Disposable {
  readonly #options: Required<Omit<HandlerWatchOptions, 'logger'>> & { readonly logger: Logger };
  readonly #marks = new WorkMarks();
  readonly #loopClock: LoopClock;
  #kernel: Kernel | undefined;
  #relay: TapRelay | undefined;
  readonly #timer: Timer;
  /** Milliseconds of blocking since the last beat by handlers that are known. */
  #explainedMs = 0;

  constructor(options: HandlerWatchOptions) {
    this.#options = {
      clock: systemClock,
      attributeRejections: true,
      blockedAfterMs: 500,
      process: nodeProcess,
      ...options,
    };
    const { clock, blockedAfterMs } = this.#options;
    this.#loopClock = new LoopClock(Number(blockedAfterMs), clock); // `false` is never compared
    this.#timer = new Timer(clock);
  }

  /** Marks and times each handler, from when it is contributed on, and runs it inside of the layers of taps. */
  readonly instrument: Instrument = (handler, of) => {
    const { attributeRejections, blockedAfterMs } = this.#options;
    const { extensionId, contributionId } = of;
    const mark: Mark = { extensionId, contributionId };
    const marks = this.#marks;
    const clock = this.#loopClock;
    if (attributeRejections) marks.enable();
    const inLayers: typeof handler = (call, own) => {
      const relay = this.#relay;
      if (relay === undefined || relay.layers.length === 0) return handler(call, own);
      const { event } = call as { readonly event: Envelope }; // the kernel's calls have it
      return relay.run(() => handler(call, own), { extensionId, contributionId, event });
    };
    const marked: typeof handler = (call, own) => {
      const outer = marks.current;
      marks.current = mark;
      try {
        return inLayers(call, own);
      } finally {
        marks.current = outer;
      }
    };
    if (blockedAfterMs === false) return marked;
    return (call, own) => {
      const outer = marks.current;
      marks.current = mark;
      const { counted } = clock;
      const beganMs = counted[0] || clock.readMs();
      try {
        return inLayers(call, own);
      } finally {
        marks.current = outer;
        const tookMs = (counted[0] || clock.readMs()) - beganMs;
        if (tookMs >= clock.limitMs) this.#blocked(of, tookMs);
      }
    };
  };

  /** Runs the setup of an extension, so that the work that it starts is known as its own. */
  readonly around = <T>(extensionId: string, work: () => T): T => {
    const marks = this.#marks;
    if (this.#options.attributeRejections) marks.enable();
    const outer = marks.current;
    marks.current = { extensionId };
    try {
      return work();
    } finally {
      marks.current = outer;
    }
  };

  /** Begins to hear stray rejections: each is told to the kernel, where it counts towards quarantine. */
  watch(kernel: Kernel): void {
    this.#kernel = kernel;
    this.#relay = tapRelayOf(kernel);
    const { process, attributeRejections } = this.#options;
    if (!attributeRejections) return;
    process.on('unhandledRejection', this.#onRejection);
    process.on('uncaughtException', this.#onException);
  }

  /**
   * Begins to watch whether the event loop turns. Call it when the host has started: until then the host itself loads
   * modules and opens files, and blocks the loop with that. A second call does nothing.
   */
  watchLoop(): void {
    const { blockedAfterMs } = this.#options;
    if (blockedAfterMs !== false && !this.#timer.isSet) this.#beat(blockedAfterMs);
  }

  [Symbol.dispose](): void {
    const { process } = this.#options;
    process.off('unhandledRejection', this.#onRejection);
    process.off('uncaughtException', this.#onException);
    this.#timer.clear();
    this.#marks[Symbol.dispose]();
    this.#loopClock[Symbol.dispose]();
  }

  /** A host goes on after any rejection, because one promise without a reader must not end the service. */
  readonly #onRejection = (reason: unknown, promise?: object): void => {
    const mark = this.#marks.ownerOf(promise);
    if (mark !== undefined) this.#stray(mark, 'a promise was rejected', reason);
    else
      this.#options.logger.error(
        'a promise was rejected and nobody handled it; it belongs to no extension',
        { error: reason },
      );
  };

  /** An error of a timer or a listener. If it belongs to no extension it ends the process, as it would without a watch. */
  readonly #onException = (error: unknown): void => {
    const mark = this.#marks.ownerOf();
    if (mark === undefined) {
      this.#options.process.off('uncaughtException', this.#onException);
      throw error;
    }
    this.#stray(mark, 'it threw outside of a dispatch', error);
  };

  #stray(mark: Mark, what: string, error: unknown): void {
    const { extensionId, contributionId } = mark;
    const who = contributionId === undefined ? extensionId : `${extensionId}/${contributionId}`;
    this.#options.logger.error(`${who}: ${what}, and nobody handled it`, { ...mark, error });
    this.#kernel?.blame(mark, `${what}: ${oneLine(error)}`);
  }

  #blocked({ extensionId, contributionId, family }: Parameters<Instrument>[1], tookMs: number) {
    this.#explainedMs += tookMs;
    const ms = Math.round(tookMs);
    this.#options.logger.warn(
      `${extensionId}/${contributionId} on "${family}" blocked everything for ${ms} ms`,
      { extensionId, contributionId, family, ms },
    );
  }

  /** Code after an `await` blocks outside of its handler's call: the clock shows it, and the log names the unsettled handlers. */
  #beat(blockedAfterMs: number): void {
    const { clock, logger } = this.#options;
    const dueMs = clock.monotonicMs() + beatMs;
    this.#timer.setIdly(beatMs, () => {
      const lateMs = Math.round(clock.monotonicMs() - dueMs);
      if (lateMs >= blockedAfterMs && this.#explainedMs < lateMs / 2) {
        const running = (this.#kernel?.running() ?? []).map(nameOf);
        logger.warn(
          `everything was blocked for ${lateMs} ms; handlers that had not settled: ${running.join(', ') || 'none'}`,
          { ms: lateMs },
        );
      }
      this.#explainedMs = 0;
      this.#loopClock.beat();
      this.#beat(blockedAfterMs);
    });
  }
}

/** The owner of some work: a handler, or the setup of an extension and the work that it has started. */
interface Mark {
  readonly extensionId: string;
  readonly contributionId?: string;
}

const key = Symbol('mark');
type Marked = object & { [key]?: Mark | undefined };

/**
 * Tells to whom the work belongs that runs now. Who calls an extension's code sets `current` meanwhile, which costs two
 * writes; a promise, a timer or a listener that begins then belongs to the same, and so does all that these begin.
 */
class WorkMarks implements Disposable {
  /** The owner of the code that is being called; `undefined` in all other code. */
  current: Mark | undefined;
  readonly #hook: AsyncHook = createHook({
    init: (_id, _type, _trigger, resource) => {
      const begun: Marked = resource;
      const mark = this.current ?? this.#running;
      if (mark !== undefined || begun[key] !== undefined) begun[key] = mark; // Node uses some of them again
    },
  });

  /** Work that begins before this call is not known. A second call does nothing. */
  enable(): void {
    this.#hook.enable();
  }

  /** Finds the owner of a promise, or of the timer or the listener that runs. */
  ownerOf(promise?: object): Mark | undefined {
    const asked: Marked | undefined = promise;
    return asked?.[key] ?? this.#running;
  }

  get #running(): Mark | undefined {
    const running: Marked = executionAsyncResource();
    return running[key];
  }

  [Symbol.dispose](): void {
    this.#hook.disable();
  }
}
