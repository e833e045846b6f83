import { type AgentRequest, type SessionMessage, textOf } from '../stream/index.js';

/** How much of a conversation a prompt repeats, in characters; the oldest goes first. */
const maxHistoryChars = 100_000;

/**
 * The prompt of a turn, as Claude gets it: what was said that it has not heard, the files that came along, by name
 * and place, and what is asked.
 *
 * @param unheard messages of the session that its own memory does not hold, oldest first.
 */
export function claudePrompt(
  { prompt, attachments }: Pick<AgentRequest, 'prompt' | 'attachments'>,
  unheard: readonly SessionMessage[],
): string {
  const said = conversation(unheard);
  const files = attachments.map(({ kind, name, path, url, mimeType }) =>
    ['-', kind, name, path ?? url, mimeType === undefined ? undefined : `(${mimeType})`]
      .filter((part) => part !== undefined)
      .join(' '),
  );
  return [
    ...(said === '' ? [] : [`<conversation_so_far>\n${said}\n</conversation_so_far>`]),
    ...(files.length === 0 ? [] : [`Attached files:\n${files.join('\n')}`]),
    prompt,
  ].join('\n\n');
}

/** What was said, as text; what tools answered and what was thought is left out. */
function conversation(messages: readonly SessionMessage[]): string {
  const lines: string[] = [];
  let chars = 0;
  for (const message of messages.toReversed()) {
    const text = message.role === 'toolResult' ? '' : textOf(message);
    if (text.trim() === '') continue;
    const line = `${message.role}: ${text}`;
    chars += line.length;
    if (chars > maxHistoryChars) {
      lines.push('(what was said before is left out)');
      break;
    }
    lines.push(line);
  }
  return lines.toReversed().join('\n');
}
