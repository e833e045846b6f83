import { say } from '../../src/agent/internal.js';
import {
  type AgentProvider,
  type AgentRequest,
  MessageWriter,
  type SessionEvent,
} from '../../src/sdk/stream/index.js';

/** An agent that calls `deploy` with the words of its prompt, or with those that the test gives it, and says how that went. */
export function deployer(
  ran: Pick<string[], 'push'>,
  argsOf = (prompt: string): string[] => [prompt],
): AgentProvider {
  return {
    id: 'deployer',
    models: ['deployer'],
    toolGate: 'enforce',
    run: (request) => deploying(request, ran, argsOf(request.prompt)),
  };
}

async function* deploying(
  request: AgentRequest,
  ran: Pick<string[], 'push'>,
  all: readonly string[],
): AsyncGenerator<SessionEvent> {
  const writer = new MessageWriter({ provider: 'deployer', model: request.model });
  yield { type: 'agent_start' };
  const said: string[] = [];
  for (const [at, what] of all.entries()) {
    const call = { toolCallId: `${request.runId}-${at}`, toolName: 'deploy', args: { what } };
    const asking = say(writer, [
      { type: 'text', text: `I deploy ${what}.` },
      { type: 'toolCall', id: call.toolCallId, name: call.toolName, arguments: call.args },
    ]);
    for (const event of asking) yield event;
    yield { type: 'tool_execution_start', ...call };
    const decision = await request.gate(call);
    if (request.signal.aborted) return;
    if (decision.allowed) ran.push(String(decision.args['what']));
    const result = decision.allowed ? `deployed ${what}` : decision.reason;
    const { toolCallId, toolName } = call;
    yield { type: 'tool_execution_end', toolCallId, toolName, result, isError: !decision.allowed };
    said.push(result);
  }
  const answered = say(writer, [{ type: 'text', text: said.join('; ') || 'nothing to do' }]);
  for (const event of answered) yield event;
  yield { type: 'agent_end', messages: writer.messages };
}
