import { type SessionMessage, type ToolImage, textOf } from 'sluice/stream';

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

/**
 * Makes messages of a request of those of a transcript. Each call of a tool gets one result behind it, as the servers ask for: one
 * that is not there says so, and a result without a call is left out.
 */
export function chatMessages(
  messages: readonly SessionMessage[],
  rules: MessageRules,
): ChatMessage[] {
  const made: ChatMessage[] = [];
  for (const [at, message] of messages.entries()) {
    if (message.role === 'user') made.push({ role: 'user', content: message.content });
    if (message.role !== 'assistant' || message.providerError !== undefined) continue;
    const text = textOf(message);
    const thoughts = message.content.flatMap((one) =>
      one.type === 'thinking' ? one.thinking : [],
    );
    const calls = message.content.flatMap((one) => (one.type === 'toolCall' ? [one] : []));
    if (text === '' && calls.length === 0) continue;
    made.push({
      role: 'assistant',
      content: text === '' ? null : text,
      ...(rules.returnReasoning === true &&
        thoughts.length > 0 && { reasoning_content: thoughts.join('\n') }),
      ...(calls.length > 0 && {
        tool_calls: calls.map(({ id, name, arguments: args }) => ({
          ...{ id, type: 'function' },
          function: { name, arguments: JSON.stringify(args) },
        })),
      }),
    });
    const next = messages.findIndex((one, place) => place > at && one.role !== 'toolResult');
    const answers = messages.slice(at + 1, next < 0 ? undefined : next);
    const shown: ChatContent[] = [];
    for (const { id } of calls) {
      const answer = answers.find((one) => one.role === 'toolResult' && one.toolCallId === id);
      const content = answer === undefined ? '[there is no result]' : textOf(answer);
      made.push({ role: 'tool', tool_call_id: id, content: cut(content, rules.maxResultChars) });
      const pictures = rules.pictures?.get(id) ?? [];
      if (pictures.length > 0)
        shown.push({ type: 'text', text: `Pictures of the result of ${id}:` });
      shown.push(
        ...pictures.map(({ mimeType, data }) => imageOf(`data:${mimeType};base64,${data}`)),
      );
    }
    if (shown.length > 0) made.push({ role: 'user', content: shown });
  }
  return made;
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
