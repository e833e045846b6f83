import { createHash } from 'node:crypto';
import type { AgentRequest, AgentTrigger } from '@sluice/sdk/stream';
import { attachedFiles } from '@sluice/sdk/stream/internal';

/** The longest message, in bytes of UTF-8. */
const maxMessageBytes = 100 * 1024;

/** A message for the agent; or the problem with it, which is undefined if there is nothing to say. */
export type GatewayMessage = { readonly text: string } | { readonly problem: string | undefined };

/** Puts a trigger in words: its text, or a sentence about a reaction, with the sender's name before it. */
export function triggerMessage(
  { content, sender, source }: AgentTrigger,
  prefixSender: boolean,
): GatewayMessage {
  const { text = '', emoji, referencedMessageId } = content;
  const said =
    text.trim() === '' && emoji !== undefined && emoji !== ''
      ? `(reacted with ${emoji} to message ${referencedMessageId ?? source.messageId})`
      : text;
  const name = prefixSender ? sender.displayName?.replace(/[\p{Cc}[\]]/gu, '').trim() : undefined;
  const isNamed = said.trim() !== '' && name !== undefined && name !== '';
  return boundedMessage(isNamed ? `[${name}]: ${said}` : said);
}

/** Puts a turn in words: its prompt, and the files that came along, by name and place. */
export function turnMessage({ prompt, attachments }: AgentRequest): GatewayMessage {
  return boundedMessage([...attachedFiles(attachments), prompt].join('\n\n'));
}

function boundedMessage(text: string): GatewayMessage {
  if (text.trim() === '') return { problem: undefined };
  const bytes = Buffer.byteLength(text);
  if (bytes <= maxMessageBytes) return { text };
  return { problem: `the message is too long: ${bytes} bytes, of ${maxMessageBytes}` };
}

/** The longest id within a session key, in code points. */
const maxIdLength = 256;

/**
 * The key of an agent's session on the gateway: `agent:<agentId>:sluice-<id>`. An id that a key cannot hold is made to
 * fit; so that no two conversations share a session then, it gets a mark of its own.
 */
export function sessionKeyOf(agentId: string, id: string): string {
  const fitting = Array.from(id.replace(/\p{Cc}/gu, '').replace(/[:/\\]/g, '-'))
    .slice(0, maxIdLength)
    .join('');
  if (fitting === id) return `agent:${agentId}:sluice-${id}`;
  const mark = createHash('sha256').update(id).digest('hex').slice(0, 16);
  const short = Array.from(fitting)
    .slice(0, maxIdLength - mark.length - 1)
    .join('');
  return `agent:${agentId}:sluice-${short}-${mark}`;
}
