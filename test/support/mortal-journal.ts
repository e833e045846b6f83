import type { Journal } from '../../src/journal/index.js';

/** A journal as a host sees it that may die at any moment: from then on nothing of that host reaches it. */
export interface MortalJournal extends Journal {
  /** The host is gone. What it had asked for and not got stays unanswered. */
  kill(): void;
}

type Write =
  | 'accept'
  | 'begin'
  | 'release'
  | 'endUpdate'
  | 'prepare'
  | 'final'
  | 'sending'
  | 'unsent'
  | 'shown'
  | 'endSend'
  | 'keyValue';

/** Lets each call through until the host is killed. `failing` says which writes fail, by their kind and number. */
export function mortalJournal(
  journal: Journal,
  failing: (write: Write, nth: number) => Error | undefined = () => undefined,
): MortalJournal {
  let isDead = false;
  const counts = new Map<Write, number>();
  const unanswered = new Promise<never>(() => undefined);
  const fail = (kind: Write): void => {
    const nth = (counts.get(kind) ?? 0) + 1;
    counts.set(kind, nth);
    const problem = failing(kind, nth);
    if (problem !== undefined) throw problem;
  };
  /**
   * A call that does two writes at once, if its last argument says so, counts as both. A host that is killed at the second of
   * them leaves the first, as hosts do that make two calls of it: those of a conversation that is not free, for example.
   */
  const both = async <R>(
    kinds: readonly [Write, Write],
    isBoth = false,
    call: (isBoth: boolean) => Promise<R>,
  ): Promise<R> => {
    fail(kinds[0]);
    const isAtFirst = isDead;
    if (isBoth) fail(kinds[1]);
    if (isAtFirst) return unanswered;
    const result = await call(isBoth && !isDead);
    return isDead ? unanswered : result;
  };
  const write =
    <A extends unknown[], R>(kind: Write, call: (...args: A) => Promise<R>) =>
    async (...args: A): Promise<R> => {
      fail(kind);
      if (isDead) return unanswered;
      const result = await call.apply(journal, args); // a journal on a file has its methods from its class
      return isDead ? unanswered : result;
    };
  return {
    acknowledge: journal.acknowledge,
    ownership: journal.ownership,
    updates: (filter) => journal.updates(filter),
    sends: (filter) => journal.sends(filter),
    dispatches: (filter) => journal.dispatches(filter),
    counts: () => journal.counts(),
    dispatched: (dispatch) => journal.dispatched(dispatch),
    retry: (eventId) => journal.retry(eventId),
    purge: (eventId) => journal.purge(eventId),
    changedOutside: () => journal.changedOutside(),
    problem: () => journal.problem(),
    stats: () => journal.stats(),
    accept: (update, isBegun, mostOpen) =>
      both(['accept', 'begin'], isBegun, (isBoth) => journal.accept(update, isBoth, mostOpen)),
    begin: write('begin', journal.begin),
    release: write('release', journal.release),
    endUpdate: write('endUpdate', journal.endUpdate),
    prepare: (fence, send, isSending) =>
      both(['prepare', 'sending'], isSending, (isBoth) => journal.prepare(fence, send, isBoth)),
    final: (fence, send, isSending) =>
      both(['final', 'sending'], isSending, (isBoth) => journal.final(fence, send, isBoth)),
    sending: write('sending', journal.sending),
    unsent: write('unsent', journal.unsent),
    shown: write('shown', journal.shown),
    endSend: write('endSend', journal.endSend),
    keyValues: {
      ...journal.keyValues,
      write: write('keyValue', journal.keyValues.write),
      clear: write('keyValue', journal.keyValues.clear),
    },
    close: async () => undefined, // it outlives the host
    kill: () => {
      isDead = true;
    },
  };
}
