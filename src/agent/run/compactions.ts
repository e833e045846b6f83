import type { AutoCompactionEnd, AutoCompactionStart, TranscriptEntry } from '@sluice/sdk/stream';
import { definedFields, type Logger } from 'sluice-kernel/internal';
import type { RunFields } from './run-fields.js';
import type { Trail } from './trail.js';

const causes = { threshold: 'auto', overflow: 'overflow', manual: 'manual' } as const;

/**
 * The compactions of one run. Their two stages hold nothing up (seed 001): each dispatch starts when the one before
 * it has ended, the stream goes on meanwhile, and the run waits for the last before it is told as completed. They
 * have a trail of their own, so that what they annotate and what goes on beside them do not overwrite each other.
 */
export function compactions(trail: Trail, run: RunFields, logger: Logger) {
  let last: Promise<void> | undefined;
  let lastCause: (typeof causes)[AutoCompactionStart['reason']] | undefined;
  let count = 0;
  let lastTrail: Trail = trail;

  function enqueue(dispatch: () => Promise<unknown>): void {
    const mine = (last === undefined ? dispatch() : last.then(dispatch))
      .catch((error: unknown) => logger.error('a compaction was not dispatched', { ...run, error }))
      .then(() => {
        if (last === mine) last = undefined;
      });
    last = mine;
  }

  return {
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
      lastTrail = trail;
      lastCause = causes[event.reason];
      const cause = lastCause;
      enqueue(() =>
        trail.dispatch('compaction.before', {
          ...run,
          cause,
          ...(messages !== undefined && {
            messageCount: before + messages.length,
            messages: [...messages],
          }),
        }),
      );
    },

    /** Tells each end, also of a compaction that is tried again: `willRetry` says so. */
    ended({ result, willRetry, aborted, errorMessage }: AutoCompactionEnd): void {
      const trail = lastTrail;
      const cause = lastCause;
      if (!aborted && errorMessage === undefined) count++;
      const compactionCount = count;
      enqueue(async () => {
        const known = { ...run, ...definedFields({ cause }) };
        const payload = { ...known, compactionCount, ...told(result), willRetry };
        return trail.dispatch('compaction.after', payload);
      });
    },

    /** Waits for the dispatches that are under way. */
    drained: (): Promise<void> | undefined => last,
  };
}

/** The parts of `compactions` that others use. */
export type Compactions = ReturnType<typeof compactions>;

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
