import {
  type AssistantMessage,
  type SessionMessage,
  type TextContent,
  type ToolCallContent,
  type ToolResultMessage,
  textOf,
} from '../session-message.js';

/**
 * Makes of a transcript the messages that any model takes (event-pipeline §16.29): prompts and answers alternate, each call has one
 * result right behind the message that makes it, in the order of the calls, and no message is empty. Whatever failed, was stopped or
 * stayed silent has a short note in its place. A message that is right already stays the same object.
 *
 * @param messages oldest first.
 * @example
 * modelMessages([{ role: 'user', content: 'one' }, { role: 'user', content: 'two' }]); // with an answer between them: "(No answer is known.)"
 */
export function modelMessages(messages: readonly SessionMessage[]): SessionMessage[] {
  const made: SessionMessage[] = [];
  let calls: readonly ToolCallContent[] = [];
  const results = new Map<string, ToolResultMessage>();
  const settle = (): void => {
    for (const call of calls) made.push(results.get(call.id) ?? missing(call));
    calls = [];
    results.clear();
  };
  for (const message of messages) {
    if (message.role === 'toolResult') {
      if (!results.has(message.toolCallId)) results.set(message.toolCallId, message);
      continue;
    }
    if (message.role === 'assistant' && isEmpty(message)) continue;
    settle();
    const last = made.at(-1);
    if (message.role === 'user') {
      if (last !== undefined && last.role !== 'assistant') made.push(noAnswer);
      made.push(message.content.trim() === '' ? { ...message, content: noWords } : message);
      continue;
    }
    if (last?.role === 'assistant') made.splice(-1, 1, joined(last, message));
    else made.push(message);
    calls = callsOf(message);
  }
  settle();
  return made;
}

/** The same for the messages before a prompt: the last one is an answer, too. */
export function modelHistory(messages: readonly SessionMessage[]): SessionMessage[] {
  const made = modelMessages(messages);
  const last = made.at(-1);
  return last === undefined || last.role === 'assistant' ? made : [...made, noAnswer];
}

const noWords = '(a message without words)';
const noAnswer: AssistantMessage = {
  role: 'assistant',
  content: [textBlock('(No answer is known.)')],
};

function textBlock(text: string): TextContent {
  return { type: 'text', text };
}

/** A failure of the model's provider is for operators, and a thought alone is no answer. */
function isEmpty(message: AssistantMessage): boolean {
  if (message.providerError !== undefined) return true;
  return textOf(message).trim() === '' && callsOf(message).length === 0;
}

function callsOf({ content }: AssistantMessage): readonly ToolCallContent[] {
  return content.flatMap((block) => (block.type === 'toolCall' ? [block] : []));
}

function joined(one: AssistantMessage, other: AssistantMessage): AssistantMessage {
  const gap = textOf(other).trim() === '' ? [] : [textBlock('\n\n')];
  return { ...one, ...other, content: [...one.content, ...gap, ...other.content] };
}

function missing({ id, name }: ToolCallContent): ToolResultMessage {
  const content = [textBlock('[there is no result]')];
  return { role: 'toolResult', toolCallId: id, toolName: name, content, isError: true };
}
