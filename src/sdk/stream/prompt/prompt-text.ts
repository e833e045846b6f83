import type { AgentRequest } from '../provider.js';
import { type SessionMessage, textOf } from '../session-message.js';
import { attachedFiles } from './attached-files.js';

/** How much of a conversation a prompt repeats, in characters; the oldest goes first. */
const maxHistoryChars = 100_000;

/**
 * The prompt of a turn as one text, for an agent that keeps its own session: what was said that the agent has not heard, what was
 * done about the prompt before, the calls to make again, the files that came along, by name and place, and what is asked.
 *
 * @param unheard messages of the session that the agent's own memory does not hold, oldest first.
 * @example
 * const text = promptText(request, isKnown ? [] : request.history);
 */
export function promptText(
  {
    prompt,
    attachments,
    begun = [],
    callsAgain = [],
  }: Pick<AgentRequest, 'prompt' | 'attachments' | 'begun' | 'callsAgain'>,
  unheard: readonly SessionMessage[],
): string {
  const said = conversation(unheard, (message) =>
    message.role === 'toolResult' ? '' : textOf(message),
  );
  const done = conversation(begun, workOf);
  const again = callsAgain.map(({ toolName, args }) => callText(toolName, args)).join('\n');
  return [
    ...(said === '' ? [] : [`<conversation_so_far>\n${said}\n</conversation_so_far>`]),
    ...(done === '' ? [] : [`<already_done>\n${cutOff}\n${done}\n</already_done>`]),
    ...(again === '' ? [] : [`<calls_to_make>\n${makeAgain}\n${again}\n</calls_to_make>`]),
    ...attachedFiles(attachments),
    prompt,
  ].join('\n\n');
}

const cutOff =
  'The process that answered the following prompt was cut off, after what stands here. Go on from there.';

const makeAgain =
  'You have called the following tools for the following prompt, and no result is known: a person was asked about each call before it could run. Make exactly these calls now, each once and with the same arguments, before anything else. Their results say what the person has decided.';

/** The text of a message, and the tools that it calls. */
function workOf(message: SessionMessage): string {
  if (message.role !== 'assistant') return textOf(message);
  const calls = message.content.flatMap((block) =>
    block.type === 'toolCall' ? [`called ${callText(block.name, block.arguments)}`] : [],
  );
  return [textOf(message), ...calls].filter((text) => text.trim() !== '').join('\n');
}

function callText(name: string, args: object): string {
  return `${name} ${JSON.stringify(args)}`;
}

/** Messages as text, each as `saying` has it; what was thought is left out. */
function conversation(
  messages: readonly SessionMessage[],
  saying: (message: SessionMessage) => string,
): string {
  const lines: string[] = [];
  let chars = 0;
  for (const message of messages.toReversed()) {
    const text = saying(message);
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
