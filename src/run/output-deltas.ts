import type { Clock, PayloadOf } from '../kernel/index.js';
import type { AssistantMessageEvent, ToolExecutionUpdate } from '../stream/index.js';
import type { RunFields } from './run-fields.js';
import type { Trail } from './trail.js';

type DeltaPayload = PayloadOf<'agent.output.delta'>;

/** Dispatches `agent.output.delta` while output grows, without an await. */
export function outputDeltas(trail: Trail, run: RunFields, clock: Clock) {
  let messageIndex = -1;
  let grown = { text: '', thinking: '' };
  let sinceMs = { text: 0, thinking: 0 };

  function grow(kind: 'text' | 'thinking', delta: string): void {
    grown[kind] += delta;
    const nowMs = clock.now();
    sinceMs[kind] ||= nowMs;
    // The run comes last: V8 adds fields to a spread object one by one, at some microseconds together.
    emit({
      kind,
      text: grown[kind],
      delta,
      messageIndex: Math.max(0, messageIndex),
      elapsedMs: Math.max(0, nowMs - sinceMs[kind]),
      ...run,
    });
  }

  function emit(payload: DeltaPayload): void {
    trail.dispatchSync('agent.output.delta', payload);
  }

  return {
    /** A message begins: its texts grow from nothing. */
    openMessage(): void {
      messageIndex++;
      grown = { text: '', thinking: '' };
      sinceMs = { text: 0, thinking: 0 };
    },
    message(event: AssistantMessageEvent): void {
      if (event.type === 'text_delta') grow('text', event.delta);
      else if (event.type === 'thinking_delta') grow('thinking', event.delta);
    },
    toolProgress(event: ToolExecutionUpdate): void {
      const { toolName, toolCallId, partialResult } = event;
      emit({ kind: 'tool-progress', toolName, toolCallId, partialResult, ...run });
    },
  };
}

/** The parts of `outputDeltas` that others use. */
export type OutputDeltas = ReturnType<typeof outputDeltas>;
