import { cancel, type PayloadOf } from 'sluice-kernel';
import { same } from '../facts/field-table.js';
import { syncHook } from './make-row.js';
import { type Answer, isGiven } from './row.js';
import { payloadOf } from './run-context.js';
import type { LegacyAgentMessage, LegacyToolResultContext, LegacyWriteContext } from './shapes.js';

/** A message that a handler answered. The legacy runner passes over whatever is falsy. */
const readMessage = ({ value }: Answer) => (value.message ? { message: value.message } : undefined);

/** The synchronous hooks: each handler gets what the one before it left. */
export const transcriptHooks = {
  tool_result_persist: syncHook('transcript.tool-result.persisting')<
    {
      toolName?: string;
      toolCallId?: string;
      message: LegacyAgentMessage;
      isSynthetic?: boolean;
    },
    LegacyToolResultContext,
    { message?: LegacyAgentMessage }
  >({
    parts: [{ class: 'mutator', read: readMessage }],
    why: 'Synchronous on both sides. The message passes by reference.',
    merge: 'chained: each gets what the one before it left',
    instead: '{ message }',
    event: same('message', 'toolName', 'toolCallId', 'isSynthetic'),
    context: same('agentId', 'sessionKey', 'toolName', 'toolCallId'),
    result: ({ outcomes: [outcome] }) => ({
      message: (outcome.payload as PayloadOf<'transcript.tool-result.persisting'>).message,
    }),
  }),
  before_message_write: syncHook('transcript.message.writing')<
    { message: LegacyAgentMessage; sessionKey?: string; agentId?: string },
    LegacyWriteContext,
    { message?: LegacyAgentMessage; block?: boolean }
  >({
    parts: [
      { class: 'mutator', read: readMessage },
      { class: 'veto', read: ({ value }) => (value.block ? cancel('suppressed') : undefined) },
    ],
    why: 'Synchronous on both sides. The message passes by reference. A block drops whatever was changed before it.',
    merge: 'chained: each gets what the one before it left; block: ends the stage',
    instead: '{ message } or { block: true }',
    event: same('message', 'sessionKey', 'agentId'),
    context: same('sessionKey', 'agentId'),
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
