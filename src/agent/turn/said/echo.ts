import {
  type AgentProvider,
  type AgentRequest,
  MessageWriter,
  type SessionEvent,
  type SessionMessage,
  textOf,
} from '@sluice/sdk/stream';
import { say } from './say.js';

/**
 * An agent that needs no model: it answers with the text that it gets. On its way it thinks, calls one tool
 * (`echo`, through the gate, so that a veto or a patch shows in the answer) and answers with what the tool said.
 * The model `echo` repeats the words of the prompt; `echo-full` repeats everything a model would have been sent.
 *
 * @example
 * await runAgentTurn({ kernel, provider: echoProvider(), session, message: { text: 'Hello' }, runId });
 */
export function echoProvider(): AgentProvider {
  return {
    id: 'echo',
    models: ['echo', 'echo-full'],
    toolGate: 'enforce',
    run: answer,
  };
}

async function* answer(request: AgentRequest): AsyncGenerator<SessionEvent> {
  const writer = new MessageWriter({ provider: 'echo', model: request.model });
  yield { type: 'agent_start' };
  const call = {
    toolCallId: `${request.runId}-echo`,
    toolName: 'echo',
    args: { text: request.model === 'echo-full' ? everything(request) : wordsOf(request) },
  };
  for (const event of say(writer, [
    { type: 'thinking', thinking: 'I repeat what I was asked.' },
    { type: 'toolCall', id: call.toolCallId, name: call.toolName, arguments: call.args },
  ]))
    yield event;
  const { toolCallId, toolName } = call;
  yield { type: 'tool_execution_start', ...call };
  const decision = await request.gate(call);
  const result = decision.allowed
    ? String(decision.args.text ?? '')
    : `I may not use ${toolName}: ${decision.reason}`;
  yield { type: 'tool_execution_end', toolCallId, toolName, result, isError: !decision.allowed };
  for (const event of say(writer, [{ type: 'text', text: result }])) yield event;
  yield { type: 'agent_end', messages: writer.messages };
}

/** The prompt as people wrote it: the part that tells what stands around it is for models. */
function wordsOf({ prompt, surroundings }: AgentRequest): string {
  return surroundings === undefined ? prompt : prompt.replace(surroundings, '').trim();
}

/** The whole request to a model, as text. */
function everything(request: AgentRequest): string {
  return [
    ...(request.systemPrompt === undefined ? [] : [`system: ${request.systemPrompt}`]),
    ...request.history.map((message: SessionMessage) => `${message.role}: ${textOf(message)}`),
    `prompt: ${request.prompt}`,
  ].join('\n');
}
