import { definedFields, type Logger } from '../kernel/index.js';
import type { AutoCompactionEnd, AutoCompactionStart, TranscriptEntry } from '../stream/index.js';
import type { RunFields } from './run-fields.js';
import type { Trail } from './trail.js';

const causes = { threshold: 'auto', overflow: 'overflow', manual: 'manual' } as const;

/**
 * The compactions of one run. Their two stages hold nothing up (seed 001): each dispatch starts when the one before
 * it has ended, the stream goes on meanwhile, and the run waits for the last before it is told as completed. They
 * have a trail of their own, so that what they annotate and what goes on beside them do not overwrite each other.
 */
export class Compactions {
  readonly #run: RunFields;
  readonly #logger: Logger;
  #trail: Trail;
  #last: Promise<void> = Promise.resolve();
  #cause: (typeof causes)[AutoCompactionStart['reason']] | undefined;
  #count = 0;

  constructor(trail: Trail, run: RunFields, logger: Logger) {
    this.#trail = trail;
    this.#run = run;
    this.#logger = logger;
  }

  /**
   * @param messages the part of the transcript that the run has, if it is known.
   * @param before how many messages of the transcript are before them.
   */
  started(
    from: Trail,
    event: AutoCompactionStart,
    messages: readonly TranscriptEntry[] | undefined,
    before: number,
  ): void {
    const trail = from.fork();
    this.#trail = trail;
    this.#cause = causes[event.reason];
    const cause = this.#cause;
    this.#enqueue(() =>
      trail.dispatch('compaction.before', {
        ...this.#run,
        cause,
        ...(messages !== undefined && {
          messageCount: before + messages.length,
          messages: [...messages],
        }),
      }),
    );
  }

  /** Tells each end, also of a compaction that is tried again: `willRetry` says so. */
  ended({ result, willRetry, aborted, errorMessage }: AutoCompactionEnd): void {
    const trail = this.#trail;
    const cause = this.#cause;
    if (!aborted && errorMessage === undefined) this.#count++;
    const compactionCount = this.#count;
    this.#enqueue(() =>
      trail.dispatch('compaction.after', {
        ...this.#run,
        ...definedFields({ cause }),
        compactionCount,
        ...told(result),
        willRetry,
      }),
    );
  }

  /** Waits for the dispatches that are under way. */
  drained(): Promise<void> {
    return this.#last;
  }

  #enqueue(dispatch: () => Promise<unknown>): void {
    this.#last = this.#last.then(dispatch).then(
      () => undefined,
      (error: unknown) => {
        this.#logger.error('a compaction was not dispatched', { ...this.#run, error });
      },
    );
  }
}

const counts = ['tokensBefore', 'tokensAfter', 'compactedCount', 'messageCount'] as const;

/** Picks the fields of a compaction's result that the pipeline has names for. */
function told(result: unknown) {
  const fields = new Map(Object.entries(Object(result)));
  const numbers = counts.flatMap((name) => {
    const value = fields.get(name);
    return typeof value === 'number' && Number.isInteger(value) && value >= 0
      ? [[name, value] as const]
      : [];
  });
  const summary = fields.get('summary');
  const firstKeptEntryId = fields.get('firstKeptEntryId');
  return {
    ...Object.fromEntries(numbers),
    ...(typeof summary === 'string' && { summaryLengthChars: summary.length }),
    ...(typeof firstKeptEntryId === 'string' && { firstKeptEntryId }),
  };
}
