import { say } from '../../src/agent/internal.js';
import {
  type AgentProvider,
  type AgentRequest,
  type AgentToolResult,
  type AssistantContent,
  MessageWriter,
  type SessionEvent,
} from '../../src/sdk/stream/index.js';

const call = { toolCallId: 'c-1', toolName: 'lookup', args: { of: 'mark-arguments' } };
const delegation = { toolCallId: 'c-2', toolName: 'delegate', args: { of: 'mark-task' } };
const childRunId = 'r-child';

const answerOf = ({ content }: AgentToolResult): string =>
  content.map((block) => (block.type === 'text' ? block.text : '')).join('');

/**
 * An agent that does all that an agent of a host can do: in its first turn it compacts, calls a tool, starts a subagent, answers, and
 * tells later of the subagent's answer. In its second turn it only answers.
 *
 * @param read is called with each text that the model reads: of the turn, or of the history `before` it.
 */
export function heldBackAgent(read: (text: string, of: 'now' | 'before') => void): AgentProvider {
  return {
    id: 'acting',
    models: ['m'],
    toolGate: 'enforce',
    modelGate: 'enforce',
    ownTools: [],
    subagentOf: ({ toolName }) =>
      toolName === 'delegate' ? { agentId: 'helper', isBackground: true } : undefined,
    run: (request) => (request.prompt.includes('mark-later') ? later(request) : now(request)),
  };

  async function* later(request: AgentRequest): AsyncGenerator<SessionEvent> {
    const { prompt, history } = request;
    const { speak, writer } = speaker(request);
    for (const entry of history) read(JSON.stringify(entry), 'before');
    read(prompt, 'now');
    yield { type: 'agent_start' };
    yield* speak({ type: 'text', text: 'mark-end' });
    yield { type: 'agent_end', messages: writer.messages };
  }

  async function* now(request: AgentRequest): AsyncGenerator<SessionEvent> {
    const { speak, writer } = speaker(request);
    const { tell, tools = [] } = request;
    read(request.prompt, 'now');
    yield { type: 'agent_start' };
    yield { type: 'auto_compaction_start', reason: 'threshold' };
    yield { type: 'auto_compaction_end', aborted: false, willRetry: false };
    const { toolCallId: id, toolName: name, args } = call;
    yield* speak({ type: 'toolCall', id, name, arguments: args });
    yield { type: 'tool_execution_start', ...call };
    for (const tool of tools) {
      const answer = await tool.call(call);
      const result = answerOf(answer);
      read(result, 'now');
      const { isError } = answer;
      yield { type: 'tool_execution_end', toolCallId: id, toolName: name, result, isError };
    }
    yield* speak({ type: 'toolCall', id: 'c-2', name: 'delegate', arguments: delegation.args });
    yield { type: 'tool_execution_start', ...delegation };
    const { allowed, ...decision } = await request.gate(delegation);
    const told = 'reason' in decision ? decision.reason : 'mark-start';
    read(told, 'now');
    if (allowed) tell({ kind: 'child_runs', child: { toolCallId: 'c-2', childRunId } });
    const { toolCallId, toolName } = delegation;
    const isError = !allowed;
    yield { type: 'tool_execution_end', toolCallId, toolName, result: told, isError };
    yield* speak({ type: 'text', text: 'mark-reply' });
    if (allowed) {
      tell({ kind: 'answered' });
      tell({ kind: 'child_ended', childRunId, status: 'completed' });
      tell({ kind: 'children_answered', childRunIds: [childRunId] });
      yield* speak({ type: 'text', text: 'mark-child' });
    }
    yield { type: 'agent_end', messages: writer.messages };
  }
}

function speaker(request: AgentRequest) {
  const writer = new MessageWriter({ provider: 'acting', model: 'm' });
  async function* speak(
    block: Exclude<AssistantContent, { type: 'error' }>,
  ): AsyncGenerator<SessionEvent> {
    await request.llmCalling();
    yield* say(writer, [block]);
    const message = writer.messages.at(-1);
    if (message !== undefined) await request.llmReturning(message);
  }
  return { writer, speak };
}
