import { definedFields } from 'sluice-kernel/internal';
import Type from 'typebox';
import { Compile } from 'typebox/compile';

/** Why the client itself ends a run: in `data.reason` of an `error` event with `seq` 0, which no gateway sends. */
export type LostReason = 'gateway-disconnected' | 'gateway-restarted' | 'client-stopped';

type ChatState = 'delta' | 'final' | 'aborted' | 'error';

/** A `chat` event: the answer so far, in the gateway's own accumulation. */
export interface ChatEvent {
  readonly runId: string;
  readonly state: ChatState;
  /** The text so far, in protocol 4 maybe of the last message alone; absent if the event holds no message. */
  readonly text?: string;
  readonly errorMessage?: string;
  readonly stopReason?: string;
  readonly sessionKey?: string;
  /** The client says so, not the gateway: the run is lost. */
  readonly lost?: LostReason;
}

const wireChatEvent = Type.Object({
  runId: Type.String({ minLength: 1 }),
  state: Type.String(),
  message: Type.Optional(Type.Unknown()),
  errorMessage: Type.Optional(Type.String()),
  stopReason: Type.Optional(Type.String()),
  sessionKey: Type.Optional(Type.String()),
});

const isChatEvent = Compile(wireChatEvent);

const states: ReadonlySet<string> = new Set<ChatState>(['delta', 'final', 'aborted', 'error']);

/** Reads the payload of a `chat` event: nothing if it is none, `other` if its state is none of the answer. */
export function readChatEvent(payload: unknown): ChatEvent | 'other' | undefined {
  if (!isChatEvent.Check(payload)) return undefined;
  const { runId, state, message, errorMessage, stopReason, sessionKey } = payload;
  const text = textOfMessage(message);
  if (!isStateOfAnswer(state)) return 'other';
  return { runId, state, ...definedFields({ text, errorMessage, stopReason, sessionKey }) };
}

function isStateOfAnswer(state: string): state is ChatState {
  return states.has(state);
}

/** The text of a message of the wire: its text blocks, joined. */
function textOfMessage(message: unknown): string | undefined {
  if (typeof message === 'string') return message;
  const { content, text }: Record<string, unknown> = Object(message);
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return typeof text === 'string' ? text : undefined;
  return content
    .map((block: unknown) => Object(block) as Record<string, unknown>)
    .flatMap(({ type, text: piece }) =>
      type === 'text' && typeof piece === 'string' ? [piece] : [],
    )
    .join('');
}
