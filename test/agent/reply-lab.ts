import { expect, onTestFinished } from 'vitest';
import type { ReplyCallbackOptions, ReplyCallbacks } from '../../src/agent/index.js';
import { createReplyCallbacks } from '../../src/agent/index.js';
import type {
  AssistantContent,
  AssistantMessage,
  SessionEvent,
} from '../../src/sdk/stream/index.js';
import { disorderOf } from '../support/ordered.js';

/** A callback and what it was called with. */
export type Call = readonly [name: string, payload?: unknown];

/** Reply callbacks with a host that writes down what it is told. */
export interface ReplyLab {
  readonly calls: Call[];
  readonly replies: ReplyCallbacks;
  /** Feeds events, and waits until all of them are handled. */
  run(...events: readonly SessionEvent[]): Promise<void>;
  /** The names of the callbacks so far. */
  names(): readonly string[];
  /** What one callback was called with. */
  told(name: string): readonly unknown[];
}

/**
 * Whatever a test feeds has to be in order, as far as it goes: that is checked when the test is over, unless it is meant
 * to be out of order.
 */
export function replyLab(
  options: Partial<ReplyCallbackOptions> = {},
  { outOfOrder = false } = {},
): ReplyLab {
  const calls: Call[] = [];
  const host = (name: string) => (payload?: unknown) => {
    calls.push(payload === undefined ? [name] : [name, payload]);
  };
  const fed: SessionEvent[] = [];
  onTestFinished(() => {
    if (!outOfOrder) expect(runsOf(fed).flatMap(disorderOf)).toEqual([]);
  });
  const { handle, ...others } = createReplyCallbacks({
    runId: 'run',
    now: () => 5,
    onAssistantMessageStart: host('onAssistantMessageStart'),
    onPartialReply: host('onPartialReply'),
    onBlockReply: host('onBlockReply'),
    onReasoningStream: host('onReasoningStream'),
    onReasoningEnd: host('onReasoningEnd'),
    onToolResult: host('onToolResult'),
    onAgentEvent: ({ stream, data }) =>
      calls.push([`onAgentEvent ${stream}${'phase' in data ? ` ${String(data['phase'])}` : ''}`]),
    ...options,
  });
  const replies: ReplyCallbacks = {
    ...others,
    handle(event) {
      fed.push(event);
      return handle(event);
    },
  };
  return {
    calls,
    replies,
    async run(...events) {
      for (const event of events) void replies.handle(event);
      await replies.settled();
    },
    names: () => calls.map(([name]) => name),
    told: (name) => calls.filter(([one]) => one === name).map(([, payload]) => payload),
  };
}

/** A run that is tried again, or follows another, is a run of its own. */
function runsOf(events: readonly SessionEvent[]): SessionEvent[][] {
  const runs: SessionEvent[][] = [];
  events.forEach((event, at) => {
    if (at === 0 || events[at - 1]?.type === 'agent_end') runs.push([]);
    runs.at(-1)?.push(event);
  });
  return runs;
}

export const started: SessionEvent = { type: 'agent_start' };
export const ended: SessionEvent = { type: 'agent_end', messages: [] };

export function message(content: string | readonly AssistantContent[]): AssistantMessage {
  const blocks = typeof content === 'string' ? [{ type: 'text' as const, text: content }] : content;
  return { role: 'assistant', content: blocks, stopReason: 'stop' };
}

/** A message whose blocks come in pieces: a text for each list, a thought for each that begins with `think:`. */
export function streamed(...blocks: readonly (readonly string[])[]): SessionEvent[] {
  const content: AssistantContent[] = [];
  const events: SessionEvent[] = [{ type: 'message_start', message: message([]) }];
  blocks.forEach(([first = '', ...rest], contentIndex) => {
    const isThought = first === 'think:';
    const pieces = isThought ? rest : [first, ...rest];
    const kind = isThought ? 'thinking' : 'text';
    let said = '';
    const tell = (event: object): void => {
      const partial = message([...content]);
      const assistantMessageEvent = { contentIndex, partial, ...event } as never; // built just here
      events.push({ type: 'message_update', message: partial, assistantMessageEvent });
    };
    const grow = (): void => {
      content[contentIndex] = isThought
        ? { type: 'thinking', thinking: said }
        : { type: 'text', text: said };
    };
    grow();
    tell({ type: `${kind}_start` });
    for (const delta of pieces) {
      said += delta;
      grow();
      tell({ type: `${kind}_delta`, delta });
    }
    tell({ type: `${kind}_end`, content: said });
  });
  events.push({ type: 'message_end', message: message([...content]) });
  return events;
}

export function toolStart(toolCallId: string, toolName = 'look', args = {}): SessionEvent {
  return { type: 'tool_execution_start', toolCallId, toolName, args };
}

export function toolEnd(
  toolCallId: string,
  toolName = 'look',
  result: unknown = { content: [{ type: 'text', text: 'seen' }] },
  isError = false,
): SessionEvent {
  return { type: 'tool_execution_end', toolCallId, toolName, result, isError };
}

export const compactionStart: SessionEvent = { type: 'auto_compaction_start', reason: 'threshold' };

export function compactionEnd(willRetry: boolean): SessionEvent {
  return { type: 'auto_compaction_end', result: {}, aborted: false, willRetry };
}
