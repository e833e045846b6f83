import {
  type AgentProvider,
  type AgentRequest,
  type AssistantContent,
  type AssistantMessage,
  type SessionEvent,
  type SessionMessage,
  textOf,
} from '../../stream/index.js';

/**
 * An agent that needs no model: it answers with the text that it gets. On its way it thinks, calls one tool
 * (`echo`, through the gate, so that a veto or a patch shows in the answer) and answers with what the tool said.
 * The model `echo` repeats the prompt; `echo-full` repeats everything a model would have been sent.
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
  yield { type: 'agent_start' };
  const call = {
    toolCallId: `${request.runId}-echo`,
    toolName: 'echo',
    args: { text: request.model === 'echo-full' ? everything(request) : request.prompt },
  };
  const asking = yield* say(request, [
    { type: 'thinking', thinking: 'I repeat what I was asked.' },
    { type: 'toolCall', id: call.toolCallId, name: call.toolName, arguments: call.args },
  ]);
  const { toolCallId, toolName } = call;
  yield { type: 'tool_execution_start', ...call };
  const decision = await request.gate(call);
  const result = decision.allowed
    ? String(decision.args.text ?? '')
    : `I may not use ${toolName}: ${decision.reason}`;
  yield { type: 'tool_execution_end', toolCallId, toolName, result, isError: !decision.allowed };
  const answered = yield* say(request, [{ type: 'text', text: result }]);
  yield { type: 'agent_end', messages: [asking, answered] };
}

/** Streams one message, a word at a time. */
async function* say(
  request: AgentRequest,
  blocks: readonly AssistantContent[],
): AsyncGenerator<SessionEvent, AssistantMessage> {
  const content: AssistantContent[] = []; // grows: every event of the message refers to it
  const calls = blocks.some(({ type }) => type === 'toolCall');
  const message: AssistantMessage = {
    role: 'assistant',
    content,
    provider: 'echo',
    model: request.model,
    stopReason: calls ? 'toolUse' : 'stop',
  };
  yield { type: 'message_start', message };
  for (const [contentIndex, block] of blocks.entries()) {
    content.push(block);
    if (block.type === 'toolCall') continue;
    const { type } = block;
    const whole = block.type === 'text' ? block.text : block.thinking;
    const at = { contentIndex, partial: message };
    const update = (assistantMessageEvent: Update): SessionEvent => ({
      type: 'message_update',
      message,
      assistantMessageEvent,
    });
    let grown = '';
    content[contentIndex] = piece(type, grown);
    yield update({ type: `${type}_start`, ...at });
    for (const delta of whole.match(/\S+\s*|\s+/g) ?? []) {
      grown += delta;
      content[contentIndex] = piece(type, grown);
      yield update({ type: `${type}_delta`, delta, ...at });
    }
    yield update({ type: `${type}_end`, content: whole, ...at });
  }
  yield { type: 'message_end', message };
  return message;
}

function piece(type: 'text' | 'thinking', grown: string): AssistantContent {
  return type === 'text' ? { type, text: grown } : { type, thinking: grown };
}

type Update = Extract<SessionEvent, { type: 'message_update' }>['assistantMessageEvent'];

/** The whole request to a model, as text. */
function everything(request: AgentRequest): string {
  return [
    ...(request.systemPrompt === undefined ? [] : [`system: ${request.systemPrompt}`]),
    ...request.history.map((message: SessionMessage) => `${message.role}: ${textOf(message)}`),
    `prompt: ${request.prompt}`,
  ].join('\n');
}
