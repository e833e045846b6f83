import type { Logger } from '../../kernel/index.js';

/** The options of a legacy runner. */
export interface LegacyHookRunnerOptions {
  /** Gets the lines that the legacy runner writes. */
  readonly logger?: Partial<Pick<Logger, 'debug' | 'warn' | 'error'>>;
  /** `false`: what a handler throws is thrown on, as `Error` with the handler's plugin; `true` by default. */
  readonly catchErrors?: boolean;
}
