import type {
  AssistantContent,
  AssistantMessage,
  AssistantMessageEvent,
  SessionEvent,
  StopReason,
  ToolCallContent,
} from '@sluice/sdk/stream';
import { isAnotherMessage, type SnapshotFact } from '../run/run-fact.js';

type Kind = SnapshotFact['kind'];
type Writable<T> = { -readonly [K in keyof T]: T[K] };

interface OpenBlock {
  readonly kind: Kind;
  readonly contentIndex: number;
  text: string;
}

/** A message of the model while it grows: its snapshots become blocks, their growth deltas (stream §6.2). */
export class OpenMessage {
  readonly #content: AssistantContent[] = [];
  readonly #message: Writable<AssistantMessage>;
  /** The text that was shown of each kind, in all its blocks. */
  readonly #shown: Record<Kind, string> = { text: '', thinking: '' };
  #open: OpenBlock | undefined;
  /** The whole text, if the gateway has corrected the text that was shown. */
  #truth: string | undefined;

  constructor(about: Pick<AssistantMessage, 'provider' | 'model' | 'timestamp'>) {
    this.#message = { role: 'assistant', content: this.#content, ...about };
  }

  get started(): SessionEvent {
    return { type: 'message_start', message: this.#message };
  }

  /**
   * Returns whether a snapshot belongs to another message: it begins anew, and the gateway does not say that it goes on.
   */
  isAnother(fact: SnapshotFact): boolean {
    return fact.kind === 'text' && isAnotherMessage(this.#truth ?? this.#shown.text, fact);
  }

  /** The events of a snapshot that grows. A snapshot that takes something back changes the final message only. */
  *take({ kind, text, opens }: SnapshotFact): Generator<SessionEvent> {
    const shown = this.#shown[kind];
    const isNewThought = kind === 'thinking' && opens && shown !== '' && text !== shown;
    if (isNewThought) {
      yield* this.#close();
      this.#shown.thinking = '';
    } else if (!text.startsWith(shown) || (this.#truth !== undefined && kind === 'text')) {
      if (kind === 'text') this.#truth = text;
      return;
    }
    const delta = text.slice(this.#shown[kind].length);
    if (delta === '') return;
    this.#shown[kind] = text;
    if (this.#open?.kind !== kind) {
      yield* this.#close();
      yield this.#begin(kind);
    }
    const block = this.#open;
    if (block === undefined) return;
    block.text += delta;
    this.#content[block.contentIndex] = contentOf(kind, block.text);
    yield this.#update({ type: `${kind}_delta`, delta, ...this.#at(block) });
  }

  /** Ends the message. @param call that it makes, at its end. */
  *end(
    stopReason: StopReason,
    {
      call,
      errorMessage,
    }: { readonly call?: ToolCallContent; readonly errorMessage?: string } = {},
  ): Generator<SessionEvent, AssistantMessage> {
    yield* this.#close();
    this.#correct();
    if (call !== undefined) this.#content.push(call);
    this.#message.stopReason = stopReason;
    if (errorMessage !== undefined) this.#message.errorMessage = errorMessage;
    yield { type: 'message_end', message: this.#message };
    return this.#message;
  }

  #begin(kind: Kind): SessionEvent {
    const block = { kind, contentIndex: this.#content.length, text: '' };
    this.#open = block;
    this.#content.push(contentOf(kind, ''));
    return this.#update({ type: `${kind}_start`, ...this.#at(block) });
  }

  *#close(): Generator<SessionEvent> {
    const block = this.#open;
    this.#open = undefined;
    if (block === undefined) return;
    yield this.#update({ type: `${block.kind}_end`, content: block.text, ...this.#at(block) });
  }

  /** Puts the corrected text into the message. The deltas that were shown stay. */
  #correct(): void {
    if (this.#truth === undefined) return;
    const at = this.#content.findIndex(({ type }) => type === 'text');
    const others = this.#content.filter(({ type }, index) => type !== 'text' || index === at);
    this.#content.splice(0, this.#content.length, ...others);
    const first = this.#content.findIndex(({ type }) => type === 'text');
    if (first >= 0) this.#content[first] = contentOf('text', this.#truth);
  }

  #at({ contentIndex }: OpenBlock) {
    return { contentIndex, partial: this.#message };
  }

  #update(assistantMessageEvent: AssistantMessageEvent): SessionEvent {
    return { type: 'message_update', message: this.#message, assistantMessageEvent };
  }
}

function contentOf(kind: Kind, text: string): AssistantContent {
  return kind === 'text' ? { type: 'text', text } : { type: 'thinking', thinking: text };
}
