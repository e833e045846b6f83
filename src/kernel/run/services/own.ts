import { kernelError } from '../../errors.js';
import { type Logger, loggerWith } from '../../stage/ports.js';
import { isGivenUp, sourceOf } from './call.js';

/** The `own` of one contribution. `log` and `dispatch` are made when they are read, so that idle ones cost nothing. */
export class ContributionOwn {
  readonly #extensionId: string;
  readonly #contributionId: string;
  readonly #logger: Logger;

  constructor(extensionId: string, contributionId: string, logger: Logger) {
    this.#extensionId = extensionId;
    this.#contributionId = contributionId;
    this.#logger = logger;
  }

  get extensionId(): string {
    return this.#extensionId;
  }

  get contributionId(): string {
    return this.#contributionId;
  }

  get log(): Logger {
    const logger = this.#logger;
    const ids = { extensionId: this.#extensionId, contributionId: this.#contributionId };
    return loggerWith((level, message, fields) => logger[level](message, { ...ids, ...fields }));
  }

  get dispatch(): (call: unknown, family: string, payload: object) => unknown {
    const ids = { extensionId: this.#extensionId, contributionId: this.#contributionId };
    return (call, family, payload) => {
      const source = sourceOf(call);
      if (source === undefined) throw kernelError('foreign-call', ids);
      if (source.ended || isGivenUp(call, ids)) throw kernelError('call-inactive', ids);
      return source.nest(ids, family, payload);
    };
  }

  static {
    Object.freeze(ContributionOwn.prototype); // one handler cannot change what the others have
    Object.freeze(ContributionOwn);
  }
}
