import type { Clock, PayloadOf } from '../kernel/index.js';
import type { MessageUpdate, ToolExecutionUpdate } from '../stream/index.js';
import type { RunFields } from './run-fields.js';
import type { Trail } from './trail.js';

type DeltaPayload = PayloadOf<'agent.output.delta'>;

/** Dispatches `agent.output.delta` while output grows, without an await. */
export class OutputDeltas {
  readonly #trail: Trail;
  readonly #run: RunFields;
  readonly #clock: Clock;
  #messageIndex = -1;
  #grown = { text: '', thinking: '', error: '' };
  #sinceMs = { text: 0, thinking: 0, error: 0 };

  constructor(trail: Trail, run: RunFields, clock: Clock) {
    this.#trail = trail;
    this.#run = run;
    this.#clock = clock;
  }

  /** A message begins: its texts grow from nothing. */
  openMessage(): void {
    this.#messageIndex++;
    this.#grown = { text: '', thinking: '', error: '' };
    this.#sinceMs = { text: 0, thinking: 0, error: 0 };
  }

  /** A message grows. In one in which the provider tells of its own failure, the text is of the kind `error` (§16.18). */
  message({ message, assistantMessageEvent: event }: MessageUpdate): void {
    const said = message.providerError === undefined ? 'text' : 'error';
    if (event.type === 'text_delta') this.#grow(said, event.delta);
    else if (event.type === 'thinking_delta') this.#grow('thinking', event.delta);
  }

  toolProgress(event: ToolExecutionUpdate): void {
    const { toolName, toolCallId, partialResult } = event;
    this.#emit({ kind: 'tool-progress', toolName, toolCallId, partialResult, ...this.#run });
  }

  #grow(kind: 'text' | 'thinking' | 'error', delta: string): void {
    this.#grown[kind] += delta;
    const nowMs = this.#clock.now();
    this.#sinceMs[kind] ||= nowMs;
    // The run comes last: V8 adds fields to a spread object one by one, at some microseconds together.
    this.#emit({
      kind,
      text: this.#grown[kind],
      delta,
      messageIndex: Math.max(0, this.#messageIndex),
      elapsedMs: Math.max(0, nowMs - this.#sinceMs[kind]),
      ...this.#run,
    });
  }

  #emit(payload: DeltaPayload): void {
    this.#trail.dispatchSync('agent.output.delta', payload);
  }
}
