import {
  type Clock,
  isThenable,
  type Logger,
  oneLine,
  silentLogger,
  systemClock,
  withTimeout,
} from 'sluice-kernel/internal';
import { extensionError } from '../errors.js';

/** The undo of an effect: a disposable, or a function. Either may be async. */
export type Undo = Disposable | AsyncDisposable | (() => unknown);

/** An effect that could not be undone, and the reason. */
export interface UndoFailure {
  readonly label: string;
  readonly error: Error;
}

/** The report of a dispose. After a failure the other effects are undone all the same. */
export interface UndoReport {
  /** The labels of the effects that were undone, in that order. */
  readonly undone: readonly string[];
  readonly failures: readonly UndoFailure[];
}

/** Milliseconds that one undo may take by default. */
const defaultUndoTimeoutMs = 5_000;

/** The time limits of a scope. */
export interface ScopeOptions {
  readonly clock?: Clock;
  /** Milliseconds that one undo may take. An undo that takes longer has failed, and the next effect is undone. */
  readonly undoTimeoutMs?: number;
}

interface Effect {
  readonly label: string;
  readonly undo: () => unknown;
}

/**
 * The lifetime of an extension: labelled effects, each with its undo (spec §13). Disposing undoes them in
 * reverse; those at the top that undo synchronously are undone before `dispose` returns its promise.
 *
 * @example
 * const scope = new Scope('acme');
 * scope.add('poll timer', () => clearInterval(timer));
 * const { failures } = await scope.dispose();
 */
export class Scope implements AsyncDisposable {
  readonly #extensionId: string;
  readonly #logger: Logger;
  readonly #options: ScopeOptions;
  readonly #effects: Effect[] = [];
  #disposed = false;
  #isUndone = false;
  #report: Promise<UndoReport> | undefined;

  /** @param logger is notified of an undo that fails. */
  constructor(extensionId: string, logger: Logger = silentLogger, options: ScopeOptions = {}) {
    this.#extensionId = extensionId;
    this.#logger = logger;
    this.#options = options;
  }

  /** All of it has been undone. */
  get isUndone(): boolean {
    return this.#isUndone;
  }

  /** The labels of the effects that the scope holds, in the order of `add`. */
  labels(): readonly string[] {
    return this.#effects.map(({ label }) => label);
  }

  /**
   * Holds an effect until the scope is disposed.
   *
   * @returns the resource, as it came.
   * @throws SluiceError `scope-disposed` on a scope that is disposed. The effect is undone at once then, because nothing
   *   else would undo it.
   */
  add<T extends Undo>(label: string, resource: T): T {
    const effect = { label, undo: undoOf(resource) };
    if (this.#disposed) {
      void this.#undo([effect]);
      throw extensionError('scope-disposed', { extensionId: this.#extensionId, label });
    }
    this.#effects.push(effect);
    return resource;
  }

  /** Undoes everything, in reverse. A second call gives the same report. Never rejects. */
  dispose(): Promise<UndoReport> {
    this.#disposed = true; // before the first undo, which could add to the scope
    this.#report ??= this.#undo(this.#effects).finally(() => {
      this.#isUndone = true;
    });
    return this.#report;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.dispose();
  }

  async #undo(effects: Effect[]): Promise<UndoReport> {
    const { clock = systemClock, undoTimeoutMs = defaultUndoTimeoutMs } = this.#options;
    const late = (): never => {
      throw new Error(`it did not end within ${undoTimeoutMs} ms`);
    };
    const undone: string[] = [];
    const failures: UndoFailure[] = [];
    for (let effect = effects.pop(); effect !== undefined; effect = effects.pop()) {
      const { label } = effect;
      try {
        const pending = effect.undo();
        // without a needless wait, so that effects which end at once are undone in one turn
        if (isThenable(pending)) await withTimeout(pending, undoTimeoutMs, clock, late);
        undone.push(label);
      } catch (thrown) {
        const problem = oneLine(thrown);
        const error = thrown instanceof Error ? thrown : new Error(problem, { cause: thrown });
        failures.push({ label, error });
        this.#logger.warn(`${this.#extensionId}: "${label}" could not be undone`, { error });
      }
    }
    return { undone, failures };
  }
}

function undoOf(resource: Undo): () => unknown {
  if (Symbol.asyncDispose in resource) return () => resource[Symbol.asyncDispose]();
  if (Symbol.dispose in resource) return () => resource[Symbol.dispose]();
  return resource;
}
