import type { AgentEnd, AssistantMessage, MessageUpdate, SessionEvent } from '@sluice/sdk/stream';
import { assistantReplies } from './assistant-replies.js';
import { compactionWait } from './compaction-wait.js';
import { eventQueue } from './emit/event-queue.js';
import { replyEmitter } from './emit/reply-emitter.js';
import type { ReplyCallbackOptions, ReplyWording, ToolTraits } from './emit/reply-options.js';
import type { ReplyCallbacks } from './reply-callbacks.js';
import { RunTexts } from './run-texts.js';
import { MessagingSends } from './tools/messaging-sends.js';
import { toolReplies } from './tools/tool-replies.js';
import { UsageSum } from './usage-totals.js';

/**
 * Turns a run's session events into what a host shows: partial replies, block replies, reasoning, tool results and
 * agent events, in one order and from one place (seed 001; spec/callback-order.md).
 *
 * An event is handled at once, unless one before it waits for `onBlockReplyFlush`: then it waits its turn. What a
 * piece of text costs does not depend on how much text came before it.
 *
 * @example
 * const replies = createReplyCallbacks({ runId, onBlockReply: ({ text }) => channel.send(text) });
 * for await (const event of agent.run(request)) await replies.handle(event);
 * await replies.waitForCompactionRetry();
 * replies.unsubscribe();
 */
export function createReplyCallbacks(options: ReplyCallbackOptions): ReplyCallbacks {
  const usage = new UsageSum();
  const compaction = compactionWait();
  let lastMessage: AssistantMessage | undefined;
  let compactionCount = 0;
  let isAsking = false;
  const emitter = replyEmitter(options);
  const texts = new RunTexts();
  const sends = new MessagingSends();
  const wording = { ...defaultWording, ...options.wording };
  const traits = { ...defaultTraits, ...options.tools };
  const { now = Date.now } = options;
  const scope = { options, emitter, texts, sends, wording, traits, now };
  const tools = toolReplies(scope);
  const assistant = assistantReplies(scope);

  function handle(event: SessionEvent): Promise<void> | undefined {
    if (event.type !== 'message_update' || event.assistantMessageEvent.type !== 'text_delta') {
      assistant.release();
      emitter.callWaiting();
    }
    switch (event.type) {
      case 'agent_start':
        emitter.report('lifecycle', { phase: 'start' }, { startedAt: now() });
        return undefined;
      case 'message_start':
        if (event.message.role === 'assistant') assistant.start();
        return undefined;
      case 'message_update':
        if (event.message.role === 'assistant') updateMessage(event);
        return undefined;
      case 'message_end':
        if (event.message.role === 'assistant') endMessage(event.message);
        return undefined;
      case 'tool_execution_start':
        return afterFlush(() => tools.start(event));
      case 'tool_execution_update':
        tools.update(event);
        return undefined;
      case 'tool_execution_end':
        if (tools.end(event)) {
          isAsking = true;
          assistant.silence();
        }
        return undefined;
      case 'auto_compaction_start':
        startCompaction();
        return undefined;
      case 'auto_compaction_end':
        endCompaction(event.willRetry, event.result !== undefined && !event.aborted);
        return undefined;
      case 'agent_end':
        return endAgent(event);
    }
  }

  function updateMessage(event: MessageUpdate): void {
    lastMessage = event.message;
    assistant.update(event);
  }

  function endMessage(message: AssistantMessage): void {
    lastMessage = message;
    usage.add(message.usage);
    assistant.end(message);
  }

  /** All that was said before has to be handed over first. */
  function afterFlush(effects: () => void): Promise<void> | undefined {
    assistant.blocks.flush();
    const flushed = emitter.call('onBlockReplyFlush');
    if (flushed === undefined) {
      if (emitter.has('onBlockReplyFlush')) emitter.callWaiting();
      effects();
      return undefined;
    }
    return flushed.then(() => {
      if (emitter.isClosed()) return;
      effects();
      emitter.callWaiting();
    });
  }

  function startCompaction(): void {
    compaction.start();
    const report = (): void => emitter.runHook('onBeforeCompaction', options.onBeforeCompaction);
    if (emitter.isSeedOrder) report();
    emitter.report('compaction', { phase: 'start' });
    if (!emitter.isSeedOrder) report();
  }

  function endCompaction(willRetry: boolean, isDone: boolean): void {
    if (isDone) compactionCount++;
    if (willRetry) {
      texts.clear();
      tools.clear();
      sends.clear();
      isAsking = false;
      assistant.startOver();
    }
    compaction.end(willRetry);
    emitter.report('compaction', { phase: 'end', willRetry });
    const result = { compactedCount: compactionCount };
    if (!willRetry) emitter.runHook('onAfterCompaction', options.onAfterCompaction, result);
  }

  function endAgent(event: AgentEnd): Promise<void> | undefined {
    const error = errorOf(event);
    const endedAt = now();
    if (error === undefined) emitter.report('lifecycle', { phase: 'end' }, { endedAt });
    else emitter.report('lifecycle', { phase: 'error', error }, { endedAt });
    assistant.blocks.flush();
    assistant.blocks.closeTags();
    const flushed = emitter.call('onBlockReplyFlush');
    compaction.agentEnded();
    return flushed;
  }

  /** Why the run failed: its last message says so, or, where that is whole, the run itself. */
  function errorOf({ error, aborted }: AgentEnd): string | undefined {
    const message = lastMessage;
    if (message?.stopReason === 'error')
      return (wording.formatAssistantErrorText(message) ?? message.errorMessage ?? '').trim();
    const isStopped = aborted === true || message?.stopReason === 'aborted';
    return isStopped ? undefined : error?.message.trim();
  }

  /** Handles an event. Returns a promise only where it has to wait. */
  function step(event: SessionEvent): Promise<void> | undefined {
    emitter.traceEvent(event.type);
    const waiting = handle(event);
    emitter.callWaiting();
    return waiting;
  }

  const queue = eventQueue(step);
  return {
    assistantTexts: texts.list,
    toolMetas: tools.metas,
    handle: (event) => (emitter.isClosed() ? undefined : queue.handle(event)),
    settled: () => queue.settled(),
    unsubscribe() {
      emitter.close();
      compaction.close();
      queue.clear();
    },
    waitForCompactionRetry: () => compaction.wait(),
    isCompacting: () => compaction.isPending(),
    isCompactionInFlight: () => compaction.isInFlight(),
    getCompactionCount: () => compactionCount,
    getUsageTotals: () => usage.read(),
    getLastToolError: tools.lastFailure,
    getMessagingToolSentTexts: () => [...sends.texts],
    getMessagingToolSentMediaUrls: () => [...sends.mediaUrls],
    getMessagingToolSentTargets: () => [...sends.targets],
    didSendViaMessagingTool: () => sends.texts.length > 0,
    didSendDeterministicApprovalPrompt: () => isAsking,
  };
}

/** Which of a call's arguments says what it is about, the most telling first. */
const tellingArguments = 'command path file_path url query pattern name action'.split(' ');
const longestDescription = 120;

/** The words for people, unless the host has its own. */
const defaultWording: ReplyWording = {
  describeTool(_toolName, args) {
    if (typeof args !== 'object' || args === null) return undefined;
    for (const name of tellingArguments) {
      const value = (args as Readonly<Record<string, unknown>>)[name]; // an object by the test above
      if (typeof value !== 'string' || value.trim() === '') continue;
      const line = value.trim().replace(/\s+/g, ' ');
      return line.length > longestDescription ? `${line.slice(0, longestDescription)}…` : line;
    }
    return undefined;
  },
  summarizeTool(toolName, description, markdown) {
    if (description === undefined) return toolName;
    return markdown
      ? `${toolName}: \`${description.replaceAll('`', "'")}\``
      : `${toolName}: ${description}`;
  },
  cutMark: '[the rest was cut off]',
  formatAssistantErrorText: ({ errorMessage }) =>
    errorMessage?.trim() || 'The model could not answer.',
  formatErroredText: () => undefined,
  formatApproval: () => undefined,
};

/** The traits of tools, unless the host knows them better. */
const defaultTraits: ToolTraits = {
  normalizeName: (toolName) => toolName.trim(),
  mayNameFiles: () => false,
  mutationOf: () => ({ mutatingAction: false }),
};
