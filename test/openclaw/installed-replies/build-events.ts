import type {
  AssistantContent,
  AssistantMessage,
  AssistantMessageEvent,
  SessionEvent,
} from '../../../src/sdk/stream/index.js';

/** A block of a message: a text or a thought that comes in pieces, or a tool that begins within the message. */
export type BlockPlan =
  | { readonly kind: 'text' | 'thinking'; readonly text: string; readonly steps: readonly number[] }
  | { readonly kind: 'tool'; readonly tool: number };

/** A tool call from its start to its end. */
export interface ToolPlan {
  readonly call: readonly [name: string, args: Readonly<Record<string, unknown>>];
  readonly updates: readonly unknown[];
  readonly result: unknown;
  readonly isError: boolean;
}

/** A part of a run. */
export type SegmentPlan =
  | {
      readonly kind: 'message';
      readonly blocks: readonly BlockPlan[];
      readonly isStreamed: boolean;
      readonly ending: Pick<AssistantMessage, 'stopReason' | 'errorMessage'>;
      readonly usage: AssistantMessage['usage'] | undefined;
    }
  | { readonly kind: 'tools'; readonly tools: readonly ToolPlan[] }
  | {
      readonly kind: 'compaction';
      readonly willRetry: boolean;
      readonly aborted: boolean;
      readonly hasResult: boolean;
    };

/** Makes the events of a run, in order. A tool that begins within a message ends after it. */
export function buildEvents(
  segments: readonly SegmentPlan[],
  tools: readonly ToolPlan[],
): SessionEvent[] {
  const events: SessionEvent[] = [{ type: 'agent_start' }];
  let calls = 0;
  for (const segment of segments) {
    if (segment.kind === 'message') {
      const open: { id: string; plan: ToolPlan }[] = [];
      addMessage(events, segment, (index) => {
        const plan = tools[index];
        if (plan === undefined) return;
        const id = `call${calls++}`;
        open.push({ id, plan });
        events.push(toolStart(id, plan));
      });
      for (const { id, plan } of open) addToolEnd(events, id, plan);
    } else if (segment.kind === 'tools') {
      const started = segment.tools.map((plan) => ({ id: `call${calls++}`, plan }));
      for (const { id, plan } of started) events.push(toolStart(id, plan));
      for (const { id, plan } of started.toReversed()) addToolEnd(events, id, plan);
    } else {
      events.push({ type: 'auto_compaction_start', reason: 'threshold' });
      events.push({
        type: 'auto_compaction_end',
        ...(segment.hasResult && { result: { summary: 's' } }),
        aborted: segment.aborted,
        willRetry: segment.willRetry,
      });
      if (segment.willRetry)
        events.push({ type: 'agent_end', messages: [] }, { type: 'agent_start' });
    }
  }
  events.push({ type: 'agent_end', messages: [] });
  return events;
}

function toolStart(toolCallId: string, { call: [toolName, args] }: ToolPlan): SessionEvent {
  return { type: 'tool_execution_start', toolCallId, toolName, args };
}

function addToolEnd(events: SessionEvent[], toolCallId: string, plan: ToolPlan): void {
  const { call, updates, result, isError } = plan;
  const [toolName, args] = call;
  for (const partialResult of updates)
    events.push({ type: 'tool_execution_update', toolCallId, toolName, args, partialResult });
  events.push({ type: 'tool_execution_end', toolCallId, toolName, result, isError });
}

function addMessage(
  events: SessionEvent[],
  plan: Extract<SegmentPlan, { kind: 'message' }>,
  startTool: (index: number) => void,
): void {
  const content: AssistantContent[] = [];
  const message = (): AssistantMessage => ({ role: 'assistant', content: [...content] });
  events.push({ type: 'message_start', message: message() });
  let contentIndex = -1;
  for (const block of plan.blocks) {
    if (block.kind === 'tool') {
      startTool(block.tool);
      continue;
    }
    contentIndex = content.push(contentOf(block.kind, '')) - 1;
    const tell = (event: Omit<AssistantMessageEvent, 'partial' | 'contentIndex'>): void => {
      const partial = message();
      const whole = { ...event, contentIndex, partial } as AssistantMessageEvent; // of the type that it names
      events.push({ type: 'message_update', message: partial, assistantMessageEvent: whole });
    };
    if (plan.isStreamed) tell({ type: `${block.kind}_start` });
    let said = '';
    for (const delta of cut(block.text, block.steps)) {
      said += delta;
      content[contentIndex] = contentOf(block.kind, said);
      if (plan.isStreamed) tell({ type: `${block.kind}_delta`, delta } as never);
    }
    if (plan.isStreamed) tell({ type: `${block.kind}_end`, content: block.text } as never);
  }
  const usage = plan.usage === undefined ? {} : { usage: plan.usage };
  events.push({ type: 'message_end', message: { ...message(), ...plan.ending, ...usage } });
}

function contentOf(kind: 'text' | 'thinking', said: string): AssistantContent {
  return kind === 'text' ? { type: 'text', text: said } : { type: 'thinking', thinking: said };
}

function cut(text: string, steps: readonly number[]): string[] {
  const pieces: string[] = [];
  for (let at = 0, turn = 0; at < text.length; turn++) {
    const length = steps[turn % steps.length] ?? 1;
    pieces.push(text.slice(at, at + length));
    at += length;
  }
  return pieces;
}
