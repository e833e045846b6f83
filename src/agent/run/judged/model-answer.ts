import { type AssistantMessage, textOf } from '@sluice/sdk/stream';
import { definedFields, type PayloadOf } from 'sluice-kernel/internal';

/** The judged parts of a message. */
type Answer = Pick<PayloadOf<'agent.llm.returning'>, 'text' | 'thinking' | 'calls'>;

/** The parts of a message that `agent.llm.returning` judges. */
export function answerIn(message: AssistantMessage): Answer {
  const thoughts = message.content.flatMap((one) => (one.type === 'thinking' ? one.thinking : []));
  return {
    text: textOf(message),
    ...(thoughts.length > 0 && { thinking: thoughts.join('\n') }),
    calls: message.content.flatMap((one) =>
      one.type === 'toolCall'
        ? [{ toolCallId: one.id, toolName: one.name, params: { ...one.arguments } }]
        : [],
    ),
  };
}

/**
 * A message as the stage has left it: a part that has not changed keeps its blocks. A call that was added gets an id of its own.
 *
 * @param taken the ids of calls, those of the message among them; it grows.
 */
export function messageOf(
  message: AssistantMessage,
  { text, thinking = '', calls }: Answer,
  taken: Set<string>,
) {
  const before = answerIn(message);
  const own = new Set(before.calls.map(({ toolCallId }) => toolCallId));
  const idOf = (wanted: string): string => {
    if (own.delete(wanted)) return wanted; // once
    let id = wanted;
    for (let nth = 2; id === '' || taken.has(id); nth++) id = `${wanted || 'call'}-${nth}`;
    taken.add(id);
    return id;
  };
  const kept = (type: 'text' | 'thinking') => message.content.filter((one) => one.type === type);
  const thoughts = thinking === '' ? [] : [{ type: 'thinking', thinking } as const];
  const words = text === '' ? [] : [{ type: 'text', text } as const];
  const stopped = message.stopReason === 'toolUse' ? 'stop' : message.stopReason;
  return {
    ...message,
    content: [
      ...(thinking === before.thinking ? kept('thinking') : thoughts),
      ...(text === before.text ? kept('text') : words),
      ...calls.map(({ toolCallId, toolName: name, params }) => {
        return { type: 'toolCall', id: idOf(toolCallId), name, arguments: params } as const;
      }),
    ],
    ...definedFields({ stopReason: calls.length > 0 ? ('toolUse' as const) : stopped }),
  };
}
