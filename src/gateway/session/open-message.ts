import type {
  AssistantContent,
  AssistantMessage,
  AssistantMessageEvent,
  SessionEvent,
  StopReason,
  ToolCallContent,
} from '../../stream/index.js';
import { isAnotherMessage, type SnapshotFact } from '../run/run-fact.js';

type Kind = SnapshotFact['kind'];
type Writable<T> = { -readonly [K in keyof T]: T[K] };

interface OpenBlock {
  readonly kind: Kind;
  readonly contentIndex: number;
  text: string;
}

/** A message of the model while it grows: its snapshots become blocks, their growth deltas (stream §6.2). */
export function openMessage(about: Pick<AssistantMessage, 'provider' | 'model' | 'timestamp'>) {
  const content: AssistantContent[] = [];
  /** The text that was shown of each kind, in all its blocks. */
  const shown: Record<Kind, string> = { text: '', thinking: '' };
  let open: OpenBlock | undefined;
  /** The whole text, if the gateway has corrected the text that was shown. */
  let truth: string | undefined;
  const message: Writable<AssistantMessage> = { role: 'assistant', content, ...about };

  function begin(kind: Kind): SessionEvent {
    const block = { kind, contentIndex: content.length, text: '' };
    open = block;
    content.push(contentOf(kind, ''));
    return update({ type: `${kind}_start`, ...at(block) });
  }

  function* close(): Generator<SessionEvent> {
    const block = open;
    open = undefined;
    if (block === undefined) return;
    yield update({ type: `${block.kind}_end`, content: block.text, ...at(block) });
  }

  /** Puts the corrected text into the message. The deltas that were shown stay. */
  function correct(): void {
    if (truth === undefined) return;
    const at = content.findIndex(({ type }) => type === 'text');
    const others = content.filter(({ type }, index) => type !== 'text' || index === at);
    content.splice(0, content.length, ...others);
    const first = content.findIndex(({ type }) => type === 'text');
    if (first >= 0) content[first] = contentOf('text', truth);
  }
  const at = ({ contentIndex }: OpenBlock) => ({ contentIndex, partial: message });
  const update = (assistantMessageEvent: AssistantMessageEvent): SessionEvent => ({
    type: 'message_update',
    message,
    assistantMessageEvent,
  });

  return {
    started: (): SessionEvent => ({ type: 'message_start', message }),

    /**
     * Tells whether a snapshot belongs to another message: it begins anew, and the gateway does not say that it goes on.
     */
    isAnother: (fact: SnapshotFact): boolean =>
      fact.kind === 'text' && isAnotherMessage(truth ?? shown.text, fact),

    /** The events of a snapshot that grows. A snapshot that takes something back changes the final message only. */
    *take({ kind, text, opens }: SnapshotFact): Generator<SessionEvent> {
      const before = shown[kind];
      const isNewThought = kind === 'thinking' && opens && before !== '' && text !== before;
      if (isNewThought) {
        yield* close();
        shown.thinking = '';
      } else if (!text.startsWith(before) || (truth !== undefined && kind === 'text')) {
        if (kind === 'text') truth = text;
        return;
      }
      const delta = text.slice(shown[kind].length);
      if (delta === '') return;
      shown[kind] = text;
      if (open?.kind !== kind) {
        yield* close();
        yield begin(kind);
      }
      const block = open;
      if (block === undefined) return;
      block.text += delta;
      content[block.contentIndex] = contentOf(kind, block.text);
      yield update({ type: `${kind}_delta`, delta, ...at(block) });
    },

    /** Ends the message. @param call that it makes, at its end. */
    *end(
      stopReason: StopReason,
      {
        call,
        errorMessage,
      }: { readonly call?: ToolCallContent; readonly errorMessage?: string } = {},
    ): Generator<SessionEvent, AssistantMessage> {
      yield* close();
      correct();
      if (call !== undefined) content.push(call);
      message.stopReason = stopReason;
      if (errorMessage !== undefined) message.errorMessage = errorMessage;
      yield { type: 'message_end', message };
      return message;
    },
  };
}

/** The parts of `openMessage` that others use. */
export type OpenMessage = ReturnType<typeof openMessage>;

function contentOf(kind: Kind, text: string): AssistantContent {
  return kind === 'text' ? { type: 'text', text } : { type: 'thinking', thinking: text };
}
