import { isPrompt, isSessionMessage, type TranscriptEntry } from '../is-session-message.js';
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
  for (let at = 0; at < messages.length; ) {
    const end = rightUntil(messages, at, made.at(-1)?.role);
    if (at === 0 && end === messages.length) return messages.slice();
    const turns = messages.slice(at, end > at ? end : endOfTurn(messages, at));
    if (end > at) for (const message of turns) made.push(message);
    else addTurn(made, turns);
    at += turns.length;
  }
  return made;
}

/** A history that was right as it was, and how an agent read it: message for message. */
interface ReadHistory {
  readonly entries: readonly TranscriptEntry[];
  readonly made: readonly SessionMessage[];
}

/** By the last message: the next turn of the session gets the same messages, or the end of them, and those of this turn. */
const readBefore = new WeakMap<TranscriptEntry, ReadHistory>();

/**
 * The same for the messages before a prompt, as an agent reads them: the last one is an answer, too. The turns that the turn before
 * has read are not looked at again.
 */
export function modelHistory(entries: readonly TranscriptEntry[]): SessionMessage[] {
  const known = takeKnown(entries);
  const rest = entries.slice(known.length);
  const read = rest.filter(isSessionMessage).map(asRead);
  const made = modelMessages(read);
  const isRight = made.length === rest.length && made.every((one, at) => one === read[at]);
  const all = [...known, ...made];
  const last = entries.at(-1);
  if (isRight && last?.role === 'assistant')
    readBefore.set(last, { entries: entries.slice(), made: all.slice() });
  if ((all.at(-1)?.role ?? 'assistant') !== 'assistant') all.push(noAnswer);
  return all;
}

/** Takes the messages that a history begins with and that were read before, up to a prompt or the end. */
function takeKnown(entries: readonly TranscriptEntry[]): readonly SessionMessage[] {
  const at = entries.findLastIndex((entry) => readBefore.has(entry));
  const last = entries[at];
  const before = last && readBefore.get(last);
  if (last === undefined || before === undefined) return [];
  readBefore.delete(last);
  const start = before.entries.length - 1 - at;
  const isWhole = start === 0 || before.made[start]?.role === 'user';
  const next = entries[at + 1];
  const follows = next === undefined || isPrompt(next);
  const isSame = entries.every(
    (entry, index) => index > at || entry === before.entries[start + index],
  );
  return isWhole && follows && isSame ? before.made.slice(start) : [];
}

/** Finds the end of the turns that stay as they are: in most transcripts that is the end of all. */
function rightUntil(
  messages: readonly SessionMessage[],
  from: number,
  before: SessionMessage['role'] | undefined,
): number {
  let turn = from;
  let last = before;
  let calls = noCalls;
  let answered = 0;
  for (let at = from; ; at++) {
    const message = messages[at];
    if (message?.role === 'toolResult') {
      if (calls.findIndex(({ id }) => id === message.toolCallId) !== answered++) return turn;
    } else {
      if (answered < calls.length) return turn;
      if (message === undefined) return at;
      if (message.role === 'user') turn = at;
      calls = callsOf(message);
      answered = 0;
      const follows =
        message.role === 'user' ? last !== 'user' && last !== 'toolResult' : last !== 'assistant';
      if (!follows || isEmpty(message)) return turn;
    }
    last = message.role;
  }
}

function endOfTurn(messages: readonly SessionMessage[], from: number): number {
  let end = from + 1;
  while (end < messages.length && messages[end]?.role !== 'user') end++;
  return end;
}

/** Adds the messages of one turn, as any model takes them. */
function addTurn(made: SessionMessage[], turn: readonly SessionMessage[]): void {
  /** The places of the results that are not there yet, by the ids of their calls. */
  const places = new Map<string, number>();
  for (const message of withoutRepeated(turn)) {
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
      made.push(isEmpty(message) ? { ...message, content: noWords } : message);
      continue;
    }
    if (last?.role === 'assistant') made.splice(-1, 1, joined(last, message));
    else made.push(message);
    for (const call of callsOf(message)) {
      const place = made.push(missing(call)) - 1;
      if (!places.has(call.id)) places.set(call.id, place);
    }
  }
}

const noWords = '(a message without words)';
const noAnswer: AssistantMessage = {
  role: 'assistant',
  content: [{ type: 'text', text: '(No answer is known.)' }],
};

/** A failure of the model's provider is for operators, and a thought alone is no answer. */
function isEmpty(message: SessionMessage): boolean {
  if (message.role === 'assistant' && message.providerError !== undefined) return true;
  return textOf(message).trim() === '' && callsOf(message).length === 0;
}

const noCalls: readonly ToolCallContent[] = [];

function callsOf({ role, content }: SessionMessage): readonly ToolCallContent[] {
  if (role !== 'assistant' || !content.some(isCall)) return noCalls;
  return content.filter(isCall);
}

function isCall(block: AssistantContent): block is ToolCallContent {
  return block.type === 'toolCall';
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
