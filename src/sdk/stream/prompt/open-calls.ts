import { isDeepStrictEqual } from 'node:util';
import type { AssistantContent, SessionMessage, ToolCallContent } from '../session-message.js';

/** A call of a tool that has no result. */
export interface OpenCall {
  readonly call: ToolCallContent;
  /** The call of a later message of the same turn that makes it again: the same name, with the same arguments. */
  readonly madeAgainBy: ToolCallContent | undefined;
}

/** A call as it is found. */
interface Made extends OpenCall {
  madeAgainBy: ToolCallContent | undefined;
  hasResult: boolean;
}

/**
 * Finds the calls of tools that have no result, oldest first. Each turn looks at all of a history: no list and no closure is made for a
 * message of it.
 */
export function openCalls(messages: readonly SessionMessage[]): readonly OpenCall[] {
  const made: Made[] = [];
  let ofTurn = 0; // from here on
  for (const message of messages) {
    if (message.role === 'user') ofTurn = made.length;
    else if (message.role === 'toolResult') noteResult(made, ofTurn, message.toolCallId);
    else {
      const before = made.length;
      for (const block of message.content)
        if (block.type === 'toolCall') {
          for (let at = ofTurn; at < before; at++) noteAgain(made[at], block);
          made.push({ call: block, madeAgainBy: undefined, hasResult: false });
        }
    }
  }
  return made.filter((one) => !one.hasResult);
}

/** A result is that of the last call with its id, in its turn. */
function noteResult(made: readonly Made[], ofTurn: number, id: string): void {
  for (let at = made.length - 1; at >= ofTurn; at--) {
    const one = made[at];
    if (one === undefined || one.hasResult || one.call.id !== id) continue;
    one.hasResult = true;
    return;
  }
}

function noteAgain(one: Made | undefined, call: ToolCallContent): void {
  if (one !== undefined && !one.hasResult && isSame(one.call, call)) one.madeAgainBy = call;
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
