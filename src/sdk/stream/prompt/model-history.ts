import { isPrompt, isSessionMessage, type TranscriptEntry } from '../is-session-message.js';
import {
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
    places.clear();
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

/** By the last entry of a history: the next turn of its session gets the same entries, or the end of them, and its own behind them. */
const readBefore = new WeakMap<
  TranscriptEntry,
  { readonly entries: readonly TranscriptEntry[]; readonly made: readonly SessionMessage[] }
>();

/**
 * The same for the messages before a prompt, as an agent reads them: the last one is an answer, too. No turn stands in the way of
 * another, so those that were read before are not looked at again.
 */
export function modelHistory(entries: readonly TranscriptEntry[]): SessionMessage[] {
  const end = entries.findLastIndex((entry) => readBefore.has(entry)) + 1;
  const known = takeKnown(entries, end);
  const rest = known.length > 0 ? entries.slice(end) : entries;
  const made = [...known, ...modelMessages(rest.filter(isSessionMessage).map(asRead))];
  const last = entries.at(-1);
  if (last === undefined) return made;
  if (made.at(-1)?.role !== 'assistant') return made.length === 0 ? made : [...made, noAnswer];
  readBefore.set(last, { entries: entries.slice(), made: made.slice() });
  return made;
}

/** Takes what was made of the entries before `end`, if they begin as they did or with a prompt, and a prompt follows. */
function takeKnown(entries: readonly TranscriptEntry[], end: number): readonly SessionMessage[] {
  const last = entries[end - 1];
  const known = last && readBefore.get(last);
  if (last === undefined || known === undefined) return [];
  readBefore.delete(last);
  const { entries: before, made } = known;
  const start = before.length - end;
  const isSame = entries.every((entry, at) => at >= end || entry === before[start + at]);
  if (!isSame || !isTurn(entries[end]) || !(start === 0 || isTurn(entries[0]))) return [];
  let left = before.slice(0, start).filter(isPrompt).length;
  return made.slice(made.findIndex(({ role }) => start === 0 || (role === 'user' && left-- === 0)));
}

/** No entry, or one that a turn begins with. */
function isTurn(entry: TranscriptEntry | undefined): boolean {
  return entry === undefined || isPrompt(entry);
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

function callsOf({ content }: AssistantMessage): readonly ToolCallContent[] {
  return content.flatMap((block) => (block.type === 'toolCall' ? [block] : []));
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
