import { createReplyCallbacks } from '../../../src/agent/reply/create-reply-callbacks.js';
import type { ReplyWording, ToolTraits } from '../../../src/agent/reply/emit/reply-options.js';
import { endOf, hostCallbacks } from './drive-real.js';
import type { RealModule } from './real-module.js';
import {
  plain,
  type ReplyProgram,
  type ReplyTrace,
  settle,
  type TraceEntry,
} from './reply-program.js';

/** Runs a program through ours, with the words of the real one. */
export async function driveOurs(
  program: ReplyProgram,
  given: { wording: Partial<ReplyWording>; tools: Partial<ToolTraits> },
): Promise<ReplyTrace> {
  const { setting, feed } = program;
  const calls: TraceEntry[] = [];
  const record = (name: string, payload?: unknown): void => {
    calls.push([name, plain(payload)]);
  };
  const replies = createReplyCallbacks({
    runId: 'run',
    sessionId: 'session',
    sessionKey: 'key',
    order: 'openclaw',
    verboseLevel: setting.verboseLevel,
    reasoningMode: setting.reasoningMode,
    blockReplyBreak: setting.blockReplyBreak,
    ...(setting.blockReplyChunking && { blockReplyChunking: setting.blockReplyChunking }),
    toolResultFormat: setting.toolResultFormat,
    enforceFinalTag: setting.enforceFinalTag,
    onAfterToolCall: (call) => record('onAfterToolCall', call),
    onBeforeCompaction: () => record('onBeforeCompaction', {}),
    onAfterCompaction: (result) => record('onAfterCompaction', result),
    emitAgentEvent: ({ stream, data }) => record('emitAgentEvent', { stream, data }),
    now: () => Date.now(),
    ...given,
    ...hostCallbacks(setting, record),
  });
  for (const event of program.events) {
    void replies.handle(event);
    if (feed === 'settled') await settle();
  }
  await replies.settled();
  await settle();
  return { calls, end: plain(endOf(replies)) as ReplyTrace['end'] };
}

/** The words that the real one has for a provider's error, or `undefined` if it shows the text as it is. */
export function erroredText(real: RealModule, text: string): string | undefined {
  const worded = real.sanitizeUserFacingText(text, { errorContext: true });
  return worded === real.sanitizeUserFacingText(text) ? undefined : worded;
}

/** The real one's words and what it knows of tools, for ours. */
export function realWords(real: RealModule): {
  wording: Partial<ReplyWording>;
  tools: Partial<ToolTraits>;
} {
  return {
    wording: {
      describeTool: (tool, args) =>
        real.extendExecMeta(tool, args, real.inferToolMetaFromArgs(tool, args)),
      summarizeTool: (tool, description, markdown) =>
        real.formatToolAggregate(tool, description === undefined ? undefined : [description], {
          markdown,
        }),
      cutMark: '…(truncated)…',
      formatApproval(_tool, result) {
        const { details } = (result ?? {}) as { details?: Readonly<Record<string, unknown>> }; // read as the real one does
        if (details?.['status'] === 'approval-pending')
          return real.buildExecApprovalPendingReplyPayload(details);
        if (details?.['status'] === 'approval-unavailable')
          return real.buildExecApprovalUnavailableReplyPayload(details);
        return undefined;
      },
      formatAssistantErrorText(message) {
        const text =
          real.formatAssistantErrorText(message, {
            sessionKey: 'key',
            provider: message.provider,
            model: message.model,
          }) ||
          message.errorMessage ||
          'LLM request failed.';
        return real.buildTextObservationFields(text.trim()).textPreview ?? text.trim();
      },
      formatErroredText: (text) => erroredText(real, text),
    },
    tools: {
      normalizeName: (tool) => real.normalizeToolName(tool),
      mayNameFiles: (tool) => real.filterToolResultMediaUrls(tool, ['/file']).length > 0,
      mutationOf: (tool, args, description) => real.buildToolMutationState(tool, args, description),
    },
  };
}
