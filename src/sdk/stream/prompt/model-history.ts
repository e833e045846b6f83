import {
  type AssistantMessage,
  type SessionMessage,
  type ToolCallContent,
  type ToolResultMessage,
  textOf,
} from '../session-message.js';
import { callsOf, withoutRepeated } from './open-calls.js';
import { asRead } from './surroundings.js';

/**
 * Makes of a transcript the messages that any model takes (event-pipeline §16.29): prompts and answers alternate, each call has one
 * result right behind the message that makes it, in the order of the calls, and no message is empty. Whatever failed, was stopped or
 * stayed silent has a short note in its place. A call without a result that was made again later is left out. A message that is
 * right already stays the same object.
 *
 * @param messages oldest first.
 * @example
 * modelMessages([{ role: 'user', content: 'one' }, { role: 'user', content: 'two' }]); // with an answer between them: "(No answer is known.)"
 */
export function modelMessages(messages: readonly SessionMessage[]): SessionMessage[] {
  const made: SessionMessage[] = [];
  /** The places of the results that are not there yet, by the ids of their calls. */
  const places = new Map<string, number>();
  for (const message of withoutRepeated(messages)) {
    if (message.role === 'toolResult') {
      const place = places.get(message.toolCallId);
      if (place !== undefined) made[place] = message;
      places.delete(message.toolCallId);
      continue;
    }
    if (message.role === 'assistant' && isEmpty(message)) continue;
    if (places.size > 0) places.clear(); // an empty one makes a new table, too
    const last = made.at(-1);
    if (message.role === 'user') {
      if (last !== undefined && last.role !== 'assistant') made.push(noAnswer);
      made.push(message.content.trim() === '' ? { ...message, content: noWords } : message);
      continue;
    }
    if (last?.role === 'assistant') made.splice(-1, 1, joined(last, message));
    else made.push(message);
    for (const call of callsOf(message)) {
      const place = made.push(missing(call)) - 1;
      if (!places.has(call.id)) places.set(call.id, place);
    }
  }
  return made;
}

/** The same for the messages before a prompt, as an agent reads them: the last one is an answer, too. */
export function modelHistory(messages: readonly SessionMessage[]): SessionMessage[] {
  const made = modelMessages(messages.map(asRead));
  const last = made.at(-1);
  return last === undefined || last.role === 'assistant' ? made : [...made, noAnswer];
}

const noWords = '(a message without words)';
const noAnswer: AssistantMessage = {
  role: 'assistant',
  content: [{ type: 'text', text: '(No answer is known.)' }],
};

/** A failure of the model's provider is for operators, and a thought alone is no answer. */
function isEmpty(message: AssistantMessage): boolean {
  if (message.providerError !== undefined) return true;
  return textOf(message).trim() === '' && callsOf(message).length === 0;
}

function joined(one: AssistantMessage, other: AssistantMessage): AssistantMessage {
  const gap = textOf(other).trim() === '' ? [] : [{ type: 'text', text: '\n\n' } as const];
  return { ...one, ...other, content: [...one.content, ...gap, ...other.content] };
}

function missing({ id, name }: ToolCallContent): ToolResultMessage {
  const content = [
    { type: 'text', text: '[no result of this call is known: it may have run]' } as const,
  ];
  return { role: 'toolResult', toolCallId: id, toolName: name, content, isError: true };
}
