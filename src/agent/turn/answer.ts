import { isPrompt, MessageWriter, type SessionEvent } from '@sluice/sdk/stream';
import { definedFields, type SelectionOf } from 'sluice-kernel/internal';
import { whenPassed } from '../run/index.js';
import { type ModelChoice, refOf } from './model.js';
import type { ComposedPrompt } from './prompt.js';
import { say } from './said/say.js';
import type { AttemptScope } from './turn-fields.js';

/** An answer in place of that of the model. */
export type GivenAnswer = SelectionOf<'agent.answer.resolving'>;

/**
 * Asks `agent.answer.resolving` if somebody answers in place of the model.
 *
 * @throws RunFailure `stage-failed`.
 */
export function resolveAnswer(scope: AttemptScope) {
  const { options, trail, fields, signal, attempt, begun = [] } = scope;
  const { message, session } = options;
  const asked = () => ({
    prompt: message.text,
    attempt,
    messages: [...session.history, ...begun],
    ...fields,
  });
  const telling = trail.tell('agent.answer.resolving', asked, signal);
  return whenPassed(telling, (outcome): GivenAnswer | undefined => outcome?.selection?.target);
}

/**
 * Asks `agent.llm.calling` if a model may be called: first with the composed prompt, then with what the attempt has written, too.
 *
 * @throws RunFailure `stage-failed`; it has the cancel of a veto that keeps the call from the model.
 */
export function judgeCall(
  { options, trail, fields, signal, attempt, run, begun = [] }: AttemptScope,
  choice: ModelChoice,
  { prompt, systemPrompt }: ComposedPrompt,
  call: number,
): Promise<void> | undefined {
  const { message, session } = options;
  const since = run.written.filter((entry) => !isPrompt(entry));
  const payload = () => ({
    prompt: message.text,
    attempt,
    call,
    composedPrompt: prompt,
    messages: [...session.history, ...begun, ...since],
    ...definedFields({ systemPrompt }),
    ...refOf(choice),
    ...fields,
  });
  return whenPassed(trail.tell('agent.llm.calling', payload, signal), () => undefined);
}

/** Says an answer as an agent says its own: a word at a time, or not at all if it has no words. */
export async function* saying({ text = '' }: GivenAnswer): AsyncGenerator<SessionEvent> {
  yield { type: 'agent_start' };
  const writer = new MessageWriter({});
  if (text.trim() !== '') for (const event of say(writer, [{ type: 'text', text }])) yield event;
  yield { type: 'agent_end', messages: writer.messages };
}
