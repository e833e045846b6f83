import {
  type AssistantMessage,
  modelMessages,
  type SessionMessage,
  type ToolImage,
  textOf,
} from 'sluice/stream';

/** A part of a message with pictures. */
export type ChatContent =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'image_url'; readonly image_url: { readonly url: string } };

/** A message as the servers of this protocol take it. */
export type ChatMessage =
  | { readonly role: 'system'; readonly content: string }
  | { readonly role: 'user'; readonly content: string | readonly ChatContent[] }
  | {
      readonly role: 'assistant';
      readonly content: string | null;
      readonly reasoning_content?: string;
      readonly tool_calls?: readonly object[];
    }
  | { readonly role: 'tool'; readonly tool_call_id: string; readonly content: string };

/** The rules by which messages of a transcript become messages of a request. */
export interface MessageRules {
  readonly maxResultChars: number;
  readonly returnReasoning?: boolean;
  /** The pictures of tools, by the id of their call. */
  readonly pictures?: ReadonlyMap<string, readonly ToolImage[]>;
}

/** Stand for a message where servers want one: the roles of a request alternate (event-pipeline §16.29). */
const pictures = '(The pictures of these results follow.)';
const emptyResult = '(The result is empty.)';

/**
 * Makes messages of a request of those of a transcript, as any server takes them: roles alternate, no message is empty, and each call
 * of a tool has one result behind it.
 */
export function chatMessages(
  messages: readonly SessionMessage[],
  rules: MessageRules,
): ChatMessage[] {
  const made: ChatMessage[] = [];
  let shown: ChatContent[] = [];
  const show = (): void => {
    if (shown.length > 0)
      made.push({ role: 'assistant', content: pictures }, { role: 'user', content: shown });
    shown = [];
  };
  for (const message of modelMessages(messages)) {
    if (message.role === 'toolResult') {
      const { toolCallId: id } = message;
      const content = cut(textOf(message), rules.maxResultChars) || emptyResult;
      made.push({ role: 'tool', tool_call_id: id, content });
      const seen = rules.pictures?.get(id) ?? [];
      if (seen.length > 0) shown.push({ type: 'text', text: `Pictures of the result of ${id}:` });
      shown.push(...seen.map(({ mimeType, data }) => imageOf(`data:${mimeType};base64,${data}`)));
      continue;
    }
    show();
    if (message.role === 'user') made.push({ role: 'user', content: message.content });
    else made.push(answerOf(message, rules));
  }
  show();
  return made;
}

function answerOf(message: AssistantMessage, { returnReasoning }: MessageRules): ChatMessage {
  const text = textOf(message);
  const thoughts = message.content.flatMap((one) => (one.type === 'thinking' ? one.thinking : []));
  const calls = message.content.flatMap((one) => (one.type === 'toolCall' ? [one] : []));
  return {
    role: 'assistant',
    content: text.trim() === '' ? null : text,
    ...(returnReasoning === true &&
      thoughts.length > 0 && { reasoning_content: thoughts.join('\n') }),
    ...(calls.length > 0 && {
      tool_calls: calls.map(({ id, name, arguments: args }) => ({
        ...{ id, type: 'function' },
        function: { name, arguments: JSON.stringify(args) },
      })),
    }),
  };
}

/** A picture in a message. */
export function imageOf(url: string): ChatContent {
  return { type: 'image_url', image_url: { url } };
}

function cut(text: string, most: number): string {
  if (text.length <= most) return text;
  return `${text.slice(0, most)}\n[cut: these are ${most} of ${text.length} characters]`;
}

/** Tokens of a picture, by estimate. */
const imageTokens = 1_000;

/** The tokens of something in a request, by estimate: one for four characters of its JSON. */
export function tokensOf(value: unknown): number {
  let images = 0;
  const text = JSON.stringify(value, (key, one: unknown) => {
    if (key !== 'image_url') return one;
    images++;
    return undefined;
  });
  return Math.ceil((text?.length ?? 0) / 4) + images * imageTokens;
}
