import { isSluiceError, type Logger } from '../../kernel/index.js';
import type { LegacyHookName } from '../hooks/index.js';
import type { LegacyHookKind } from '../hooks/row.js';
import type { CallListener } from './legacy-call.js';
import type { Registered } from './registration.js';

/** The options of a legacy runner. */
export interface LegacyHookRunnerOptions {
  /** Gets the lines that the legacy runner writes. */
  readonly logger?: Partial<Pick<Logger, 'debug' | 'warn' | 'error'>>;
  /** `false`: what a handler throws is thrown on, as `Error` with the handler's plugin; `true` by default. */
  readonly catchErrors?: boolean;
}

/** Tells a host that calls the legacy runner what became of the handlers, in the runner's own words. */
export class RunnerReporter implements CallListener {
  readonly catchErrors: boolean;
  /** Aborted at the first failure where errors are thrown on: the handlers after it are not run. */
  readonly signal: AbortSignal | undefined;
  readonly #hook: LegacyHookName;
  readonly #kind: LegacyHookKind;
  readonly #logger: NonNullable<LegacyHookRunnerOptions['logger']>;
  readonly #controller: AbortController | undefined;
  #first: Error | undefined;

  constructor(hook: LegacyHookName, kind: LegacyHookKind, options: LegacyHookRunnerOptions) {
    this.#hook = hook;
    this.#kind = kind;
    this.#logger = options.logger ?? {};
    this.catchErrors = options.catchErrors ?? true;
    // all handlers of a void hook are started before the first can fail
    this.#controller = this.catchErrors || kind === 'void' ? undefined : new AbortController();
    this.signal = this.#controller?.signal;
  }

  tellRunning(count: number): void {
    if (this.#kind === 'sync') return;
    const how = this.#kind === 'modifying' ? ', sequential' : '';
    this.#tell('debug', `[hooks] running ${this.#hook} (${count} handlers${how})`);
  }

  failed({ pluginId }: Registered, error: unknown): void {
    this.tellFailed(pluginId, textOf(error), error);
  }

  promised({ pluginId }: Registered): void {
    const text = `[hooks] ${this.#hook} handler from ${pluginId} returned a Promise; this hook is synchronous and the result was ignored.`;
    if (this.catchErrors) this.#tell('warn', text);
    else this.tellFailed(pluginId, `Error: ${text}`, new Error(text));
  }

  /** Logs a failure, or keeps it to be thrown. */
  tellFailed(pluginId: string, problem: string, cause?: unknown): void {
    const text = `[hooks] ${this.#hook} handler from ${pluginId} failed: ${problem}`;
    if (this.catchErrors) {
      this.#tell('error', text);
      return;
    }
    this.#first ??= new Error(text, { cause });
    this.#controller?.abort(this.#first);
  }

  /** Throws the first failure that was kept. */
  throwFirst(): void {
    if (this.#first !== undefined) throw this.#first;
  }

  /** Logs, or throws on, the error that keeps a call from being dispatched. */
  refuse(error: unknown): undefined {
    if (!this.catchErrors) throw this.#first ?? error;
    const text = isSluiceError(error) ? error.message : textOf(error);
    this.#tell('error', `[hooks] ${this.#hook} was not run: ${text}`);
    return undefined;
  }

  #tell(level: 'debug' | 'warn' | 'error', text: string): void {
    try {
      this.#logger[level]?.(text);
    } catch {
      // there is nobody left to tell
    }
  }
}

/** As the legacy runner writes an error. */
function textOf(error: unknown): string {
  try {
    return String(error);
  } catch {
    return 'an error that cannot be read';
  }
}
