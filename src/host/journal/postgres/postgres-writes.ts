import type { Journal } from '../journal.js';
import type { JournalChanges } from '../journal-changes.js';
import type { NeededRows, PostgresBatches } from './postgres-batches.js';

type Changing = keyof JournalChanges;

/** The rows that each change looks at, by its arguments. */
const needs: {
  readonly [Name in Changing]: (...args: Parameters<Journal[Name]>) => NeededRows;
} = {
  accept: ({ eventId }) => ({ updates: [eventId] }),
  begin: (eventId, joined = []) => ({ updates: [eventId, ...joined] }),
  giveBack: ({ eventId }) => ({ updates: [eventId] }),
  endUpdate: ({ eventId }) => ({ updates: [eventId] }),
  retry: (eventId) => ({ updates: [eventId], isOfDead: true }),
  purge: (eventId = '') => ({ updates: [eventId], isOfDead: true }),
  prepare: (_, { sendId }) => ({ sends: [sendId] }),
  final: (_, { sendId }) => ({ sends: [sendId] }),
  sending: (_, sendId) => ({ sends: [sendId] }),
  unsent: (_, sendId) => ({ sends: [sendId] }),
  shown: (_, sendId) => ({ sends: [sendId] }),
  endSend: (_, sendId) => ({ sends: [sendId] }),
};

/** Makes the changes of a journal: each is one write of the batches. */
export function postgresChanges(batches: PostgresBatches): Pick<Journal, Changing> {
  const written = Object.entries(needs).map(([name, neededBy]) => {
    const needed = neededBy as (...args: unknown[]) => NeededRows; // it gets the arguments of its own change
    const write = (...args: unknown[]) =>
      batches.write(
        ({ changes }) => {
          const change = changes[name as Changing] as (...args: unknown[]) => unknown; // each name is there
          return change(...args);
        },
        needed(...args),
      );
    return [name, write];
  });
  return Object.fromEntries(written) as Pick<Journal, Changing>; // each name is there
}
