import { cancel, definedFields, type PayloadOf } from '../../kernel/index.js';
import { syncHook } from './make-row.js';
import { type Answer, isGiven } from './row.js';
import { payloadOf, runRefs } from './run-context.js';
import type { LegacyAgentMessage, LegacyToolResultContext, LegacyWriteContext } from './shapes.js';

/** A message that a handler answered. The legacy runner passes over whatever is falsy. */
const readMessage = ({ value }: Answer) => (value.message ? { message: value.message } : undefined);

/** The synchronous hooks: each handler gets what the one before it left. */
export const transcriptHooks = {
  tool_result_persist: syncHook<
    {
      toolName?: string;
      toolCallId?: string;
      message: LegacyAgentMessage;
      isSynthetic?: boolean;
    },
    LegacyToolResultContext,
    { message?: LegacyAgentMessage }
  >({
    parts: [{ family: 'transcript.tool-result.persisting', class: 'mutator', read: readMessage }],
    coverage: ['mutate'],
    why: 'Synchronous on both sides. The message passes by reference.',
    merge: 'chained: each gets what the one before it left',
    instead: '{ message }',
    announce: (event, ctx) => {
      const { agentId, sessionKey } = ctx;
      const toolName = event.toolName ?? ctx.toolName;
      const toolCallId = event.toolCallId ?? ctx.toolCallId;
      const { message, isSynthetic } = event;
      const ids = definedFields({ agentId, sessionKey, toolName, toolCallId, isSynthetic });
      return [
        {
          family: 'transcript.tool-result.persisting',
          payload: { ...ids, message },
          given: runRefs(definedFields({ agentId })),
        },
      ];
    },
    view: (envelope) => {
      const payload = payloadOf<PayloadOf<'transcript.tool-result.persisting'>>(envelope);
      const { message, toolName, toolCallId, isSynthetic, agentId, sessionKey } = payload;
      return {
        event: { message, ...definedFields({ toolName, toolCallId, isSynthetic }) },
        ctx: definedFields({ agentId, sessionKey, toolName, toolCallId }),
      };
    },
    result: ({ outcomes: [outcome] }) => ({
      message: (outcome.payload as PayloadOf<'transcript.tool-result.persisting'>).message,
    }),
  }),
  before_message_write: syncHook<
    { message: LegacyAgentMessage; sessionKey?: string; agentId?: string },
    LegacyWriteContext,
    { message?: LegacyAgentMessage; block?: boolean }
  >({
    parts: [
      { family: 'transcript.message.writing', class: 'mutator', read: readMessage },
      {
        family: 'transcript.message.writing',
        class: 'veto',
        read: ({ value }) => (value.block ? cancel('suppressed') : undefined),
      },
    ],
    coverage: ['mutate', 'veto'],
    why: 'Synchronous on both sides. The message passes by reference. A block drops whatever was changed before it.',
    merge: 'chained: each gets what the one before it left; block: ends the stage',
    instead: '{ message } or { block: true }',
    announce: (event, ctx) => {
      const agentId = event.agentId ?? ctx.agentId;
      const sessionKey = event.sessionKey ?? ctx.sessionKey;
      return [
        {
          family: 'transcript.message.writing',
          payload: { ...definedFields({ agentId, sessionKey }), message: event.message },
          given: runRefs(definedFields({ agentId })),
        },
      ];
    },
    view: (envelope) => {
      const payload = payloadOf<PayloadOf<'transcript.message.writing'>>(envelope);
      const { message, agentId, sessionKey } = payload;
      const ids = definedFields({ agentId, sessionKey });
      return { event: { message, ...ids }, ctx: ids };
    },
    result: ({ outcomes: [outcome], answers, canonicalWrites }) => {
      if (outcome.status !== 'passed') return { block: true };
      const emitted = payloadOf<PayloadOf<'transcript.message.writing'>>(outcome.event).message;
      const last = answers.map((answer) => answer.message).findLast(isGiven);
      const changed = canonicalWrites.includes('message') || (isGiven(last) && last !== emitted);
      if (!changed) return undefined;
      const { message } = outcome.payload as PayloadOf<'transcript.message.writing'>;
      return { message };
    },
  }),
};
