import type {
  AssistantMessage,
  SessionEvent,
  SubagentAnswer,
  ToolExecutionEnd,
} from '@sluice/sdk/stream';
import { traceEvent } from '@sluice/sdk/stream/internal';
import { createReplyCallbacks } from '../reply/create-reply-callbacks.js';
import { saysSomething } from '../reply/text/directives/read-directives.js';
import { resultText } from '../run/index.js';
import type { TurnScope } from './turn-fields.js';

/**
 * Tells the callbacks of a turn what happens in one attempt of it: from this one place, one event after the other. What a
 * callback throws is logged, and stops nothing. Each event and each call is traced with the ids of its run and session
 * (seed 001).
 */
export function turnListener({ options: turn, fields, clock, logger, signal }: TurnScope) {
  const { callbacks = {} } = turn;
  let busy: Promise<void> | undefined;
  let openMessage: AssistantMessage | undefined;
  let endsWithError = false;
  let endIsReported = false;
  let isClosed = false;
  let hasSaid = false;
  const { runId, sessionId, sessionKey } = fields;
  const { onEvent, onAnswered, onSubagentAnswers, ...options } = callbacks;
  const hasReplies = Object.values(options).some((one) => typeof one === 'function');
  const now = (): number => clock.now();
  const replies = hasReplies
    ? createReplyCallbacks({ runId, sessionId, sessionKey, logger, now, ...options })
    : undefined;

  /** An aborted run has no lifecycle end, as in the legacy system: nothing of it is finished. */
  function reply(event: SessionEvent): Promise<void> | undefined {
    if (replies === undefined) return undefined;
    const { type } = event;
    if (isOfProvider(event)) return undefined; // §16.18: the run's end says that it failed
    if (type === 'tool_execution_end') return replies.handle(withResultBlocks(event));
    if (type === 'message_start') openMessage = event.message;
    if (type === 'message_end') {
      openMessage = undefined;
      endsWithError = event.message.stopReason === 'error';
    }
    if (type === 'agent_end') {
      if (event.aborted === true || signal.aborted) return undefined;
      const { error } = event;
      if (error !== undefined && !endsWithError) void replies.handle(failedMessage(error.message)); // they keep the order of what they get
    }
    return replies.handle(event);
  }

  /** A run that fails ends with a message that says so: the reply callbacks read it there. */
  function failedMessage(errorMessage: string): SessionEvent {
    const { content = [] } = openMessage ?? {};
    const message = { role: 'assistant', content, stopReason: 'error', errorMessage } as const;
    return { type: 'message_end', message };
  }

  const saysNow = (): boolean => replies?.assistantTexts.some(saysSomething) ?? true;

  function reportRaw(event: SessionEvent): Promise<void> | undefined {
    if (onEvent === undefined) return undefined;
    logger.debug('turn callback', { runId, sessionId, callback: 'onEvent' });
    return called(event, 'callbacks.onEvent', () => onEvent(event));
  }

  function called(
    event: { readonly type: string },
    what: string,
    call: () => unknown,
  ): Promise<void> | undefined {
    const reportError = (error: unknown): void =>
      logger.error(`${what} threw at ${event.type}`, { ...fields, error });
    try {
      const returned = call();
      if (typeof returned !== 'object' || returned === null) return undefined; // a delta costs no promise
      return Promise.resolve(returned).then(() => undefined, reportError);
    } catch (error) {
      reportError(error);
      return undefined;
    }
  }

  return {
    /** The order of the callbacks, as `order` of the reply options has it. */
    order: callbacks.order ?? 'seed',
    /** The texts as the reply callbacks have cleaned them. */
    replyTexts: replies?.assistantTexts,
    /** Returns whether the agent has said something, or `NO_REPLY`. Thoughts in tags are not among the texts that are handed over. */
    hasSaid: (): boolean => hasSaid || saysNow(),
    /** Settles when the event that is being told has been told. */
    told: (): Promise<void> | undefined => busy,
    /** Tells of an event. Returns a promise only where there is something to wait for; it never rejects. */
    report(event: SessionEvent): Promise<void> | undefined {
      if (isClosed) return undefined;
      if (event.type === 'auto_compaction_end') hasSaid ||= saysNow(); // it may begin anew
      if (replies === undefined) traceEvent(logger, fields, event); // else they trace it
      if (event.type === 'agent_end') {
        if (endIsReported) return undefined;
        endIsReported = true;
      }
      const first = called(event, 'the reply callbacks', () => reply(event));
      const raw = (): Promise<void> | undefined => reportRaw(event);
      const telling = first === undefined ? raw() : first.then(raw);
      if (telling === undefined) return undefined;
      busy = telling.then(() => {
        busy = undefined;
      });
      return busy;
    },
    /** Says to the reply callbacks that the run has failed, where no `agent_end` did. */
    async failed(message: string): Promise<void> {
      if (endIsReported || isClosed) return;
      endIsReported = true;
      const error = { subtype: 'failed', message };
      const end: SessionEvent = { type: 'agent_end', messages: [], error };
      await called(end, 'the reply callbacks', () => reply(end));
    },
    /**
     * Tells that the message has been answered or, with a list, that what comes now is about the answers of these
     * subagents. With an empty list it is about what was asked, again.
     */
    async answered(subagents?: readonly SubagentAnswer[]): Promise<void> {
      if (isClosed) return;
      const [name, call] =
        subagents === undefined
          ? ['onAnswered', onAnswered]
          : ['onSubagentAnswers', () => onSubagentAnswers?.(subagents)];
      await called({ type: 'the end of an answer' }, `callbacks.${name}`, () => call?.());
    },
    /** Tells nothing more, and settles who waits for a compaction. */
    close(): void {
      if (isClosed) return;
      isClosed = true;
      replies?.unsubscribe();
    },
  };
}

/** Returns whether it is of a message in which a provider writes its own failure in the place of an answer. */
function isOfProvider(event: SessionEvent): boolean {
  return 'message' in event && event.message.providerError !== undefined;
}

/**
 * A tool's end with its result in the shape that the reply callbacks read: an object whose `content` is a list of blocks.
 * Agents answer with what they like: a text, a list of blocks, an object of their own.
 */
function withResultBlocks(end: ToolExecutionEnd): ToolExecutionEnd {
  const { result } = end;
  if (result === undefined || result === null) return end;
  if (Array.isArray(result)) return { ...end, result: { content: result as readonly unknown[] } };
  if (typeof result === 'object' && 'content' in result && Array.isArray(result.content))
    return end;
  const content = [{ type: 'text', text: resultText(result) }];
  return { ...end, result: { content, ...(typeof result === 'object' && { details: result }) } };
}
