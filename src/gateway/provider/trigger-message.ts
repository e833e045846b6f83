import type { AgentTrigger } from '../../stream/index.js';

/** The longest message, in bytes of UTF-8. */
const maxMessageBytes = 100 * 1024;

/** What a trigger says to the agent. */
export type TriggerMessage =
  | { readonly kind: 'message'; readonly text: string }
  | { readonly kind: 'empty' }
  | { readonly kind: 'too-long'; readonly problem: string };

/** Puts a trigger in words: its text, or a sentence about a reaction, with the sender's name before it. */
export function triggerMessage(
  { content, sender, source }: AgentTrigger,
  prefixSender: boolean,
): TriggerMessage {
  const { text = '', emoji, referencedMessageId } = content;
  const said =
    text.trim() === '' && emoji !== undefined && emoji !== ''
      ? `(reacted with ${emoji} to message ${referencedMessageId ?? source.messageId})`
      : text;
  if (said.trim() === '') return { kind: 'empty' };
  const name = prefixSender ? sender.displayName?.replace(/[\p{Cc}[\]]/gu, '').trim() : undefined;
  return boundedMessage(name === undefined || name === '' ? said : `[${name}]: ${said}`);
}

/** A message, unless it is longer than a gateway is to be sent. */
export function boundedMessage(text: string): TriggerMessage {
  const bytes = Buffer.byteLength(text);
  return bytes <= maxMessageBytes
    ? { kind: 'message', text }
    : {
        kind: 'too-long',
        problem: `the message is too long: ${bytes} bytes, of ${maxMessageBytes}`,
      };
}
