import type {
  AssistantMessage,
  MessageUpdate,
  SessionEvent,
  ToolExecutionUpdate,
} from '@sluice/sdk/stream';
import { grownBy } from '@sluice/sdk/stream/internal';
import { type Clock, getOrMake } from 'sluice-kernel/internal';
import type { RunFields } from './run-fields.js';
import type { Trail } from './trail.js';

const family = 'agent.output.delta';

/** Returns whether an event says that something grew: such an event is dispatched at once. */
export function isGrowth({ type }: SessionEvent): boolean {
  return type === 'message_update' || type === 'tool_execution_update';
}

/** Dispatches `agent.output.delta` while output grows, without an await. */
export class OutputDeltas {
  readonly #trail: Trail;
  readonly #run: RunFields;
  readonly #clock: Clock;
  #messageIndex = -1;
  /** The texts of the open message, by their kind. */
  readonly #grown = new Map<string, { text: string; readonly sinceMs: number }>();

  constructor(trail: Trail, run: RunFields, clock: Clock) {
    this.#trail = trail;
    this.#run = run;
    this.#clock = clock;
  }

  /** A message begins: its texts grow from nothing. */
  openMessage(): void {
    this.#messageIndex++;
    this.#grown.clear();
  }

  /** A message grows. In one in which the provider tells of its own failure, the text is of the kind `error` (§16.18). */
  message({ message, assistantMessageEvent: event }: MessageUpdate): void {
    const said = message.providerError === undefined ? 'text' : 'error';
    if (event.type === 'text_delta') this.#grow(said, event.delta);
    else if (event.type === 'thinking_delta') this.#grow('thinking', event.delta);
  }

  toolProgress({ toolName, toolCallId, partialResult }: ToolExecutionUpdate): void {
    if (this.#trail.passes(family)) return;
    const kind = 'tool-progress';
    this.#trail.dispatchSync(family, { kind, toolName, toolCallId, partialResult, ...this.#run });
  }

  #grow(kind: 'text' | 'thinking' | 'error', delta: string): void {
    const nowMs = this.#clock.now();
    const grown = getOrMake(this.#grown, kind, () => ({ text: '', sinceMs: nowMs }));
    grown.text = grownBy(grown.text, delta);
    if (this.#trail.passes(family)) return;
    // The run comes last: V8 adds fields to a spread object one by one, at some microseconds together.
    this.#trail.dispatchSync(family, {
      kind,
      text: grown.text,
      delta,
      messageIndex: Math.max(0, this.#messageIndex),
      elapsedMs: Math.max(0, nowMs - grown.sinceMs),
      ...this.#run,
    });
  }
}

/** A message as the transcript gets it: the words of a provider that has failed are no text (pipeline §16.18). */
export function withoutErrorText(message: AssistantMessage): AssistantMessage {
  if (message.providerError === undefined) return message;
  const content = message.content.map((block) =>
    block.type === 'text' ? ({ type: 'error', error: block.text } as const) : block,
  );
  return { ...message, content };
}
