import type { AgentEnd, AssistantMessage, MessageUpdate, SessionEvent } from '@sluice/sdk/stream';
import { AssistantReplies } from './assistant-replies.js';
import { compactionWait } from './compaction-wait.js';
import { eventQueue } from './emit/event-queue.js';
import { type ReplyEmitter, replyEmitter } from './emit/reply-emitter.js';
import type { ReplyCallbackOptions, ReplyWording, ToolTraits } from './emit/reply-options.js';
import type { ReplyCallbacks } from './reply-callbacks.js';
import { RunTexts } from './run-texts.js';
import { MessagingSends } from './tools/messaging-sends.js';
import { ToolReplies } from './tools/tool-replies.js';
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
  const run = new RunReplies(options);
  const { emitter, compaction, sends, tools } = run;
  const queue = eventQueue((event) => run.step(event));
  return {
    assistantTexts: run.texts.list,
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
    getCompactionCount: () => run.compactionCount,
    getUsageTotals: () => run.usage.read(),
    getLastToolError: () => tools.lastFailure,
    getMessagingToolSentTexts: () => [...sends.texts],
    getMessagingToolSentMediaUrls: () => [...sends.mediaUrls],
    getMessagingToolSentTargets: () => [...sends.targets],
    didSendViaMessagingTool: () => sends.texts.length > 0,
    didSendDeterministicApprovalPrompt: () => run.isAsking,
  };
}

/** Shows one run, event by event. */
class RunReplies {
  readonly usage = new UsageSum();
  readonly compaction = compactionWait();
  readonly emitter: ReplyEmitter;
  readonly texts = new RunTexts();
  readonly sends = new MessagingSends();
  readonly tools: ToolReplies;
  compactionCount = 0;
  isAsking = false;
  readonly #options: ReplyCallbackOptions;
  readonly #assistant: AssistantReplies;
  readonly #wording: ReplyWording;
  readonly #now: () => number;
  #lastMessage: AssistantMessage | undefined;

  constructor(options: ReplyCallbackOptions) {
    const { now = Date.now } = options;
    this.#options = options;
    this.#now = now;
    this.emitter = replyEmitter(options);
    this.#wording = { ...defaultWording, ...options.wording };
    const traits = { ...defaultTraits, ...options.tools };
    const { emitter, texts, sends } = this;
    const scope = { options, emitter, texts, sends, wording: this.#wording, traits, now };
    this.tools = new ToolReplies(scope);
    this.#assistant = new AssistantReplies(scope);
  }

  #handle(event: SessionEvent): Promise<void> | undefined {
    if (event.type !== 'message_update' || event.assistantMessageEvent.type !== 'text_delta') {
      this.#assistant.release();
      this.emitter.callWaiting();
    }
    switch (event.type) {
      case 'agent_start':
        this.emitter.report('lifecycle', { phase: 'start' }, { startedAt: this.#now() });
        return undefined;
      case 'message_start':
        if (event.message.role === 'assistant') this.#assistant.start();
        return undefined;
      case 'message_update':
        if (event.message.role === 'assistant') this.#updateMessage(event);
        return undefined;
      case 'message_end':
        if (event.message.role === 'assistant') this.#endMessage(event.message);
        return undefined;
      case 'tool_execution_start':
        return this.#afterFlush(() => this.tools.start(event));
      case 'tool_execution_update':
        this.tools.update(event);
        return undefined;
      case 'tool_execution_end':
        if (this.tools.end(event)) {
          this.isAsking = true;
          this.#assistant.silence();
        }
        return undefined;
      case 'auto_compaction_start':
        this.#startCompaction();
        return undefined;
      case 'auto_compaction_end':
        this.#endCompaction(event.willRetry, event.result !== undefined && !event.aborted);
        return undefined;
      case 'agent_end':
        return this.#endAgent(event);
    }
  }

  #updateMessage(event: MessageUpdate): void {
    this.#lastMessage = event.message;
    this.#assistant.update(event);
  }

  #endMessage(message: AssistantMessage): void {
    this.#lastMessage = message;
    this.usage.add(message.usage);
    this.#assistant.end(message);
  }

  /** All that was said before has to be handed over first. */
  #afterFlush(effects: () => void): Promise<void> | undefined {
    this.#assistant.blocks.flush();
    const flushed = this.emitter.call('onBlockReplyFlush');
    if (flushed === undefined) {
      if (this.emitter.has('onBlockReplyFlush')) this.emitter.callWaiting();
      effects();
      return undefined;
    }
    return flushed.then(() => {
      if (this.emitter.isClosed()) return;
      effects();
      this.emitter.callWaiting();
    });
  }

  #startCompaction(): void {
    this.compaction.start();
    const report = (): void =>
      this.emitter.runHook('onBeforeCompaction', this.#options.onBeforeCompaction);
    if (this.emitter.isSeedOrder) report();
    this.emitter.report('compaction', { phase: 'start' });
    if (!this.emitter.isSeedOrder) report();
  }

  #endCompaction(willRetry: boolean, isDone: boolean): void {
    if (isDone) this.compactionCount++;
    if (willRetry) {
      this.texts.clear();
      this.tools.clear();
      this.sends.clear();
      this.isAsking = false;
      this.#assistant.startOver();
    }
    this.compaction.end(willRetry);
    this.emitter.report('compaction', { phase: 'end', willRetry });
    const result = { compactedCount: this.compactionCount };
    if (!willRetry)
      this.emitter.runHook('onAfterCompaction', this.#options.onAfterCompaction, result);
  }

  #endAgent(event: AgentEnd): Promise<void> | undefined {
    const error = this.#errorOf(event);
    const endedAt = this.#now();
    if (error === undefined) this.emitter.report('lifecycle', { phase: 'end' }, { endedAt });
    else this.emitter.report('lifecycle', { phase: 'error', error }, { endedAt });
    this.#assistant.blocks.flush();
    this.#assistant.blocks.closeTags();
    const flushed = this.emitter.call('onBlockReplyFlush');
    this.compaction.agentEnded();
    return flushed;
  }

  /** Why the run failed: its last message says so, or, where that is whole, the run itself. */
  #errorOf({ error, aborted }: AgentEnd): string | undefined {
    const message = this.#lastMessage;
    if (message?.stopReason === 'error')
      return (this.#wording.formatAssistantErrorText(message) ?? message.errorMessage ?? '').trim();
    const isStopped = aborted === true || message?.stopReason === 'aborted';
    return isStopped ? undefined : error?.message.trim();
  }

  /** Handles an event. Returns a promise only where it has to wait. */
  step(event: SessionEvent): Promise<void> | undefined {
    this.emitter.traceEvent(event.type);
    const waiting = this.#handle(event);
    this.emitter.callWaiting();
    return waiting;
  }
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
