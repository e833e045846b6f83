import type {
  AgentEnd,
  AssistantMessage,
  MessageUpdate,
  SessionEvent,
} from '../../stream/index.js';
import { AssistantReplies } from './assistant-replies.js';
import { compactionWait } from './compaction-wait.js';
import { defaultTraits, defaultWording } from './default-wording.js';
import { EventQueue } from './emit/event-queue.js';
import { ReplyEmitter } from './emit/reply-emitter.js';
import type { ReplyCallbackOptions } from './emit/reply-options.js';
import type { ReplyCallbacks } from './reply-callbacks.js';
import type { ReplyScope } from './reply-scope.js';
import { RunTexts } from './run-texts.js';
import { MessagingSends } from './tools/messaging-sends.js';
import { type ToolReplies, toolReplies } from './tools/tool-replies.js';
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
  const run = new ReplyRun(options);
  const { emitter, texts, sends } = run.scope;
  const queue = new EventQueue((event) => run.step(event));
  return {
    assistantTexts: texts.list,
    toolMetas: run.tools.metas,
    handle: (event) => (emitter.isClosed ? undefined : queue.handle(event)),
    settled: () => queue.settled(),
    unsubscribe() {
      emitter.close();
      run.compaction.close();
      queue.clear();
    },
    waitForCompactionRetry: () => run.compaction.wait(),
    isCompacting: () => run.compaction.isPending(),
    isCompactionInFlight: () => run.compaction.isInFlight(),
    getCompactionCount: () => run.compactions,
    getUsageTotals: () => run.usage.read(),
    getLastToolError: () => run.tools.failures.last,
    getMessagingToolSentTexts: () => [...sends.texts],
    getMessagingToolSentMediaUrls: () => [...sends.mediaUrls],
    getMessagingToolSentTargets: () => [...sends.targets],
    didSendViaMessagingTool: () => sends.texts.length > 0,
    didSendDeterministicApprovalPrompt: () => run.isAsking,
  };
}

/** All that is known of a run, and what each of its events does. */
class ReplyRun {
  readonly scope: ReplyScope;
  readonly usage = new UsageSum();
  readonly compaction = compactionWait();
  readonly tools: ToolReplies;
  readonly #assistant: AssistantReplies;
  #lastMessage: AssistantMessage | undefined;
  compactions = 0;
  isAsking = false;

  constructor(options: ReplyCallbackOptions) {
    this.scope = {
      options,
      emitter: new ReplyEmitter(options),
      texts: new RunTexts(),
      sends: new MessagingSends(),
      wording: { ...defaultWording, ...options.wording },
      traits: { ...defaultTraits, ...options.tools },
      now: options.now ?? Date.now,
    };
    this.tools = toolReplies(this.scope);
    this.#assistant = new AssistantReplies(this.scope);
  }

  /** Handles an event. Returns a promise only where it has to wait. */
  step(event: SessionEvent): Promise<void> | undefined {
    this.scope.emitter.traceEvent(event.type);
    const waiting = this.#handle(event);
    this.scope.emitter.callWaiting();
    return waiting;
  }

  #handle(event: SessionEvent): Promise<void> | undefined {
    if (event.type !== 'message_update' || event.assistantMessageEvent.type !== 'text_delta') {
      this.#assistant.release();
      this.scope.emitter.callWaiting();
    }
    switch (event.type) {
      case 'agent_start':
        this.scope.emitter.report('lifecycle', { phase: 'start' }, { startedAt: this.scope.now() });
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
    const flushed = this.scope.emitter.call('onBlockReplyFlush');
    if (flushed === undefined) {
      if (this.scope.emitter.has('onBlockReplyFlush')) this.scope.emitter.callWaiting();
      effects();
      return undefined;
    }
    return flushed.then(() => {
      if (this.scope.emitter.isClosed) return;
      effects();
      this.scope.emitter.callWaiting();
    });
  }

  #startCompaction(): void {
    const { options, emitter } = this.scope;
    this.compaction.start();
    const tell = (): void => emitter.runHook('onBeforeCompaction', options.onBeforeCompaction);
    if (emitter.isSeedOrder) tell();
    emitter.report('compaction', { phase: 'start' });
    if (!emitter.isSeedOrder) tell();
  }

  #endCompaction(willRetry: boolean, isDone: boolean): void {
    const { options, emitter, texts, sends } = this.scope;
    if (isDone) this.compactions++;
    if (willRetry) {
      texts.clear();
      this.tools.clear();
      sends.clear();
      this.isAsking = false;
      this.#assistant.startOver();
    }
    this.compaction.end(willRetry);
    emitter.report('compaction', { phase: 'end', willRetry });
    const result = { compactedCount: this.compactions };
    if (!willRetry) emitter.runHook('onAfterCompaction', options.onAfterCompaction, result);
  }

  #endAgent(event: AgentEnd): Promise<void> | undefined {
    const error = this.#errorOf(event);
    const endedAt = this.scope.now();
    if (error === undefined) this.scope.emitter.report('lifecycle', { phase: 'end' }, { endedAt });
    else this.scope.emitter.report('lifecycle', { phase: 'error', error }, { endedAt });
    this.#assistant.blocks.flush();
    this.#assistant.blocks.closeTags();
    const flushed = this.scope.emitter.call('onBlockReplyFlush');
    this.compaction.agentEnded();
    return flushed;
  }

  /** Why the run failed: its last message says so, or, where that is whole, the run itself. */
  #errorOf({ error, aborted }: AgentEnd): string | undefined {
    const message = this.#lastMessage;
    if (message?.stopReason === 'error')
      return (
        this.scope.wording.formatAssistantErrorText(message) ??
        message.errorMessage ??
        ''
      ).trim();
    const isStopped = aborted === true || message?.stopReason === 'aborted';
    return isStopped ? undefined : error?.message.trim();
  }
}
