import { isDeepStrictEqual } from 'node:util';
import type { AssistantContent, SessionMessage, ToolCallContent } from '../session-message.js';

/** A call of a tool that has no result. */
export interface OpenCall {
  readonly call: ToolCallContent;
  /** The call of a later message of the same turn that makes it again: the same name, with the same arguments. */
  readonly madeAgainBy?: ToolCallContent;
}

/** Finds the calls of tools that have no result, oldest first. */
export function openCalls(messages: readonly SessionMessage[]): readonly OpenCall[] {
  const found = new Set<{ call: ToolCallContent; madeAgainBy?: ToolCallContent }>();
  let ofTurn: typeof found = new Set();
  for (const message of messages) {
    if (message.role === 'user') ofTurn = new Set();
    if (message.role === 'toolResult') {
      const one = [...ofTurn].findLast(({ call }) => call.id === message.toolCallId);
      if (one !== undefined) for (const calls of [found, ofTurn]) calls.delete(one);
    }
    if (message.role !== 'assistant') continue;
    const calls = message.content.flatMap((one) => (one.type === 'toolCall' ? [one] : []));
    for (const one of ofTurn)
      for (const call of calls) if (isSame(one.call, call)) one.madeAgainBy = call;
    for (const call of calls) {
      const one = { call };
      for (const all of [found, ofTurn]) all.add(one);
    }
  }
  return [...found];
}

/** Leaves out each call without a result that was made again later: that one stands for both. */
export function withoutRepeated(messages: readonly SessionMessage[]): readonly SessionMessage[] {
  const repeated = openCalls(messages).filter(({ madeAgainBy }) => madeAgainBy !== undefined);
  return withoutCalls(
    messages,
    repeated.map(({ call }) => call),
  );
}

/** Leaves out calls, each by what it is: an id may come twice. */
export function withoutCalls(
  messages: readonly SessionMessage[],
  calls: readonly ToolCallContent[],
): readonly SessionMessage[] {
  if (calls.length === 0) return messages;
  const isKept = (block: AssistantContent): boolean =>
    block.type !== 'toolCall' || !calls.includes(block);
  return messages.map((message) =>
    message.role !== 'assistant' || message.content.every(isKept)
      ? message
      : { ...message, content: message.content.filter(isKept) },
  );
}

function isSame(one: ToolCallContent, other: ToolCallContent): boolean {
  return one.name === other.name && isDeepStrictEqual(one.arguments, other.arguments);
}
