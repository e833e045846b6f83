import { definedFields, isSluiceError, type Logger } from 'sluice-kernel/internal';
import type { LegacyHookKind, LegacyHookRow } from '../hooks/row.js';
import type { LegacyProfile } from '../profiles/index.js';
import { IsolationError } from './call-handler.js';
import type { CallListener } from './legacy-call.js';
import { inRunOrder, type Registered } from './registration.js';

/** The options of a legacy runner. */
export interface LegacyHookRunnerOptions<P extends LegacyProfile = '2026.3'> {
  /** The release whose runner it is; `2026.3` by default. */
  readonly profile?: P;
  /** Gets the lines that the legacy runner writes. */
  readonly logger?: Partial<Pick<Logger, 'debug' | 'warn' | 'error'>>;
  /**
   * `false`: what a handler throws is thrown on, as `Error` with the handler's plugin; `true` by default. A hook that fails closed
   * throws it in any case.
   */
  readonly catchErrors?: boolean;
}

/** The words for how the handlers of a kind run. */
const waysToRun: Readonly<Record<LegacyHookKind, string>> = {
  void: '',
  modifying: ', sequential',
  claim: ', first-claim wins',
  sync: '',
};

/** Tells a host that calls the legacy runner what became of the handlers, in the runner's own words. */
export class RunnerReporter implements CallListener {
  readonly catchErrors: boolean;
  /** The runner of this profile waits for every handler of a void hook before it throws. */
  readonly waitsForAll: boolean;
  /** Aborted at the first failure where errors are thrown on: the handlers after it are not run. */
  readonly signal: AbortSignal | undefined;
  readonly #hook: string;
  readonly #kind: LegacyHookKind;
  readonly #textOf: (error: unknown) => string;
  readonly #logger: NonNullable<LegacyHookRunnerOptions['logger']>;
  readonly #controller: AbortController | undefined;
  readonly #errors: { readonly error: Error; readonly by?: Registered }[] = [];

  constructor(
    hook: string,
    { kind, isClosed, copies }: Pick<LegacyHookRow, 'kind' | 'isClosed' | 'copies'>,
    options: LegacyHookRunnerOptions<LegacyProfile>,
  ) {
    const isLater = options.profile === '2026.9';
    this.#hook = hook;
    this.#kind = kind;
    this.#textOf = isLater && kind !== 'sync' ? messageOf : textOf;
    this.#logger = options.logger ?? {};
    this.catchErrors = isClosed !== true && (options.catchErrors ?? true);
    this.waitsForAll = isLater && kind === 'void';
    // all handlers of a void hook are started before the first can fail
    const isTold = kind === 'void' || (this.catchErrors && copies === undefined);
    this.#controller = isTold ? undefined : new AbortController();
    this.signal = this.#controller?.signal;
  }

  reportRunning(count: number): void {
    if (this.#kind === 'sync') return;
    const how = waysToRun[this.#kind];
    this.#report('debug', `[hooks] running ${this.#hook} (${count} handlers${how})`);
  }

  failed(by: Registered, error: unknown): void {
    if (error instanceof IsolationError) this.#keep({ error });
    else this.reportFailed(by.pluginId, this.#textOf(error), error, by);
  }

  promised({ pluginId }: Registered): void {
    const text = `[hooks] ${this.#hook} handler from ${pluginId} returned a Promise; this hook is synchronous and the result was ignored.`;
    if (this.catchErrors) this.#report('warn', text);
    else this.reportFailed(pluginId, `Error: ${text}`, new Error(text));
  }

  decided({ pluginId, priority = 0 }: Registered, label: string): void {
    if (this.#kind === 'claim') return;
    const by = `${pluginId} (priority=${priority})`;
    const text = `${label} decided by ${by}; skipping remaining handlers`;
    this.#report('debug', `[hooks] ${this.#hook} ${text}`);
  }

  /** Logs a failure, or keeps it to be thrown. */
  reportFailed(pluginId: string, problem: string, cause?: unknown, by?: Registered): void {
    const text = `[hooks] ${this.#hook} handler from ${pluginId} failed: ${problem}`;
    if (this.catchErrors) this.#report('error', text);
    else this.#keep({ error: new Error(text, { cause }), ...definedFields({ by }) });
  }

  #keep(failure: { readonly error: Error; readonly by?: Registered }): void {
    this.#errors.push(failure);
    this.#controller?.abort(this.#errors[0]?.error);
  }

  /** Throws the first failure that was kept; several at once if all were waited for. */
  throwFirst(): void {
    const [first, ...more] = this.#errors;
    if (first === undefined) return;
    if (!this.waitsForAll || more.length === 0) throw first.error;
    const sorted = this.#errors.toSorted((a, b) => (a.by && b.by ? inRunOrder(a.by, b.by) : 0));
    const errors = sorted.map(({ error }) => error);
    throw new AggregateError(errors, errors.map(withCause).join('; '));
  }

  /** Logs, or throws on, the error that keeps a call from being dispatched. */
  refuse(error: unknown): undefined {
    this.throwFirst();
    if (!this.catchErrors) throw error;
    const text = isSluiceError(error) ? error.message : textOf(error);
    this.#report('error', `[hooks] ${this.#hook} was not run: ${text}`);
    return undefined;
  }

  #report(level: 'debug' | 'warn' | 'error', text: string): void {
    try {
      this.#logger[level]?.(text);
    } catch {
      // there is nobody left to tell
    }
  }
}

/** As the legacy runner of profile 2026.3 writes an error. */
function textOf(error: unknown): string {
  try {
    return String(error);
  } catch {
    return 'an error that cannot be read';
  }
}

/** A failure of several, with the text that its handler threw in place of an error. */
function withCause(error: Error): string {
  const text = messageOf(error);
  return typeof error.cause === 'string' ? `${text} | ${error.cause}` : text;
}

/** As that of profile 2026.9 does: its message, in one line. */
export function messageOf(error: unknown): string {
  const text = error instanceof Error ? error.message || error.name : textOf(error);
  return text.replace(/\s+/g, ' ').trim() || 'unknown error';
}
