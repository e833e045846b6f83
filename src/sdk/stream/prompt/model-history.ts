import {
  type AssistantContent,
  type AssistantMessage,
  type SessionMessage,
  type ToolCallContent,
  type ToolResultMessage,
  textOf,
} from '../session-message.js';
import { withoutRepeated } from './open-calls.js';
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
  /** The last answer, and the place of the first result behind it. */
  let answer: AssistantMessage | undefined;
  let firstAt = 0;
  for (const message of withoutRepeated(messages)) {
    if (message.role === 'toolResult') {
      const place = firstAt + callAt(answer, message.toolCallId);
      if (made[place] === notYet) made[place] = message;
      continue;
    }
    if (message.role === 'assistant' && isEmpty(message)) continue;
    fillMissing(made, answer, firstAt);
    const last = made.at(-1);
    if (message.role === 'user') {
      answer = undefined;
      if (last !== undefined && last.role !== 'assistant') made.push(noAnswer);
      made.push(message.content.trim() === '' ? { ...message, content: noWords } : message);
      continue;
    }
    if (last?.role === 'assistant') made[made.length - 1] = joined(last, message);
    else made.push(message);
    answer = message;
    firstAt = made.length;
    for (const block of message.content) if (block.type === 'toolCall') made.push(notYet);
  }
  fillMissing(made, answer, firstAt);
  return made;
}

/** The number of the first call of an answer that has an id, from 0; not a number if none has. */
function callAt(answer: AssistantMessage | undefined, id: string): number {
  let at = 0;
  for (const block of answer?.content ?? [])
    if (block.type === 'toolCall') {
      if (block.id === id) return at;
      at++;
    }
  return Number.NaN;
}

/** Says of each call of an answer that has no result that none is known. */
function fillMissing(
  made: SessionMessage[],
  answer: AssistantMessage | undefined,
  firstAt: number,
): void {
  if (!made.includes(notYet, firstAt)) return;
  let at = firstAt;
  for (const block of answer?.content ?? [])
    if (block.type === 'toolCall') {
      if (made[at] === notYet) made[at] = missing(block);
      at++;
    }
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
  return textOf(message).trim() === '' && !message.content.some(isCall);
}

function isCall({ type }: AssistantContent): boolean {
  return type === 'toolCall';
}

function joined(one: AssistantMessage, other: AssistantMessage): AssistantMessage {
  const gap = textOf(other).trim() === '' ? [] : [{ type: 'text', text: '\n\n' } as const];
  return { ...one, ...other, content: [...one.content, ...gap, ...other.content] };
}

/** The place of a result that is not there yet. */
const notYet = missing({ id: '', name: '' });

function missing({ id, name }: Pick<ToolCallContent, 'id' | 'name'>): ToolResultMessage {
  const content = [
    { type: 'text', text: '[no result of this call is known: it may have run]' } as const,
  ];
  return { role: 'toolResult', toolCallId: id, toolName: name, content, isError: true };
}
