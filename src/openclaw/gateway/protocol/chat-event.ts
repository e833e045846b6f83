import { definedFields } from 'sluice-kernel/internal';
import Type from 'typebox';
import { Compile } from 'typebox/compile';

/** Why the client itself ends a run: in `data.reason` of an `error` event with `seq` 0, which no gateway sends. */
export type LostReason = 'gateway-disconnected' | 'gateway-restarted' | 'client-stopped';

/** A `chat` event: the whole answer so far, in the gateway's own accumulation. */
export interface ChatEvent {
  readonly runId: string;
  readonly state: 'delta' | 'final' | 'aborted' | 'error';
  /** The text of the whole run so far; absent if the event holds no message. */
  readonly text?: string;
  readonly errorMessage?: string;
  readonly stopReason?: string;
  readonly sessionKey?: string;
  /** The client says so, not the gateway: the run is lost. */
  readonly lost?: LostReason;
}

const wireChatEvent = Type.Object({
  runId: Type.String({ minLength: 1 }),
  state: Type.Enum(['delta', 'final', 'aborted', 'error']),
  message: Type.Optional(Type.Unknown()),
  errorMessage: Type.Optional(Type.String()),
  stopReason: Type.Optional(Type.String()),
  sessionKey: Type.Optional(Type.String()),
});

const isChatEvent = Compile(wireChatEvent);

/** Reads the payload of a `chat` event; nothing if it is none. */
export function readChatEvent(payload: unknown): ChatEvent | undefined {
  if (!isChatEvent.Check(payload)) return undefined;
  const { runId, state, message, errorMessage, stopReason, sessionKey } = payload;
  const text = textOfMessage(message);
  return { runId, state, ...definedFields({ text, errorMessage, stopReason, sessionKey }) };
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
