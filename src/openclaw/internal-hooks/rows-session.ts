import type { PayloadOf } from 'sluice-kernel';
import { payloadFields, recordOf, same } from '../facts/field-table.js';
import { refsOf } from '../facts/refs.js';
import { type ContextTable, hookRow, sessionKeyOf, sink } from './row.js';

type Compaction = PayloadOf<'compaction.before'> | PayloadOf<'compaction.after'>;

/** The legacy events write -1 for a count that their source does not know. */
const countOf = <const To extends string>(to: To) => ({
  to,
  read: (count: unknown) => (count === -1 ? undefined : count),
  show: (payload: { readonly [Name in To]?: unknown }) => payload[to],
});

const compactionTable = {
  ...same('sessionId'),
  missingSessionKey: {
    to: 'isSessionKeyMissing',
    show: ({ isSessionKeyMissing, sessionKey }: Compaction) =>
      isSessionKeyMissing ?? sessionKey === undefined,
  },
  messageCount: countOf('messageCount'),
  tokenCount: countOf('tokenCount'),
};

const why =
  'The same compaction as the plugin hook and the agent event: one canonical event. The legacy bus is told of manual compactions only; here also of those that another source dispatches.';

/** Without a session key the legacy event's is the session's id, and says so. */
const compactionRow = <F extends 'compaction.before' | 'compaction.after'>(
  action: string,
  family: F,
  table: ContextTable<PayloadOf<F>>,
) =>
  hookRow({
    type: 'session',
    action,
    awaited: true,
    source: (event) => {
      const isMissing = event.context.missingSessionKey === true;
      const fields = payloadFields(table, event.context);
      const payload = { ...fields, ...(isMissing ? {} : sessionKeyOf(event)) };
      return [{ family, payload, given: refsOf(payload) }];
    },
    sinks: [
      sink(family, 'observer', (payload) => ({
        sessionKey: payload.sessionKey ?? payload.sessionId ?? '',
        context: recordOf(table, payload),
      })),
    ],
    why,
  });

/** The keys of sessions. */
export const sessionRows = [
  compactionRow('compact:before', 'compaction.before', {
    ...compactionTable,
    ...same('tokenCountOriginal'),
    messageCountOriginal: countOf('messageCountOriginal'),
  }),
  compactionRow('compact:after', 'compaction.after', {
    ...compactionTable,
    ...same('tokensBefore', 'tokensAfter', 'firstKeptEntryId'),
    compactedCount: countOf('compactedCount'),
    summaryLength: 'summaryLengthChars',
  }),
];
