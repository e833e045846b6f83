import { definedFields, type PayloadOf } from '../../kernel/index.js';
import type { InternalHookEvent } from './event.js';
import { type InternalHookContent, type InternalHookRow, type SourceStep, sink } from './row.js';

type Compaction = PayloadOf<'compaction.before'> | PayloadOf<'compaction.after'>;

/** The legacy events write -1 for a count that their source does not know. */
function known(count: unknown): unknown {
  return count === -1 ? undefined : count;
}

/** Without a session key the legacy event's is the session's id, and says so. */
function sessionOf({ sessionKey, context }: InternalHookEvent) {
  const { sessionId, missingSessionKey } = context;
  const isMissing = missingSessionKey === true;
  return definedFields({
    sessionId,
    sessionKey: isMissing || sessionKey === '' ? undefined : sessionKey,
    isSessionKeyMissing: missingSessionKey,
    messageCount: known(context.messageCount),
    tokenCount: known(context.tokenCount),
  });
}

function givenOf({ sessionId }: Record<string, unknown>) {
  return typeof sessionId === 'string' ? { sessionId } : {};
}

function beforeSteps(event: InternalHookEvent): SourceStep[] {
  const { messageCountOriginal, tokenCountOriginal } = event.context;
  const payload = {
    ...sessionOf(event),
    ...definedFields({ messageCountOriginal: known(messageCountOriginal), tokenCountOriginal }),
  };
  return [{ family: 'compaction.before', payload, given: givenOf(event.context) }];
}

function afterSteps(event: InternalHookEvent): SourceStep[] {
  const { compactedCount, summaryLength, tokensBefore, tokensAfter, firstKeptEntryId } =
    event.context;
  const payload = {
    ...sessionOf(event),
    ...definedFields({ compactedCount: known(compactedCount), summaryLengthChars: summaryLength }),
    ...definedFields({ tokensBefore, tokensAfter, firstKeptEntryId }),
  };
  return [{ family: 'compaction.after', payload, given: givenOf(event.context) }];
}

function content(payload: Compaction, more: Record<string, unknown>): InternalHookContent {
  const { sessionKey, sessionId, isSessionKeyMissing, messageCount, tokenCount } = payload;
  const missingSessionKey = isSessionKeyMissing ?? sessionKey === undefined;
  return {
    sessionKey: sessionKey ?? sessionId ?? '',
    context: { sessionId, missingSessionKey, messageCount, tokenCount, ...more },
  };
}

const why =
  'The same compaction as the plugin hook and the agent event: one canonical event. The legacy bus is told of manual compactions only; here also of those that another source dispatches.';

/** The keys of sessions. */
export const sessionRows: readonly InternalHookRow[] = [
  {
    type: 'session',
    action: 'compact:before',
    awaited: true,
    source: beforeSteps,
    sinks: [
      sink('compaction.before', 'observer', (payload) => {
        const { messageCountOriginal, tokenCountOriginal } = payload;
        return content(payload, { messageCountOriginal, tokenCountOriginal });
      }),
    ],
    coverage: 'observe',
    status: 'bridged',
    why,
  },
  {
    type: 'session',
    action: 'compact:after',
    awaited: true,
    source: afterSteps,
    sinks: [
      sink('compaction.after', 'observer', (payload) => {
        const { compactedCount, tokensBefore, tokensAfter, firstKeptEntryId } = payload;
        const summaryLength = payload.summaryLengthChars;
        return content(payload, {
          compactedCount,
          summaryLength,
          tokensBefore,
          tokensAfter,
          firstKeptEntryId,
        });
      }),
    ],
    coverage: 'observe',
    status: 'bridged',
    why,
  },
];
