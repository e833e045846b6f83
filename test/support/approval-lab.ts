import { say } from '../../src/agent/internal.js';
import type { DecodedIngress } from '../../src/channel/index.js';
import type { ExtensionApi } from '../../src/extension/index.js';
import { type AskOptions, ask } from '../../src/kernel/index.js';
import type { AgentProvider, AgentRequest, SessionEvent } from '../../src/stream/index.js';
import { type ActingLabOptions, actingLab } from './acting-lab.js';
import { scriptedChannel } from './scripted-channel.js';

/** An agent that calls `deploy` with the words of its prompt, or with those that the test gives it, and says how that went. */
export function deployer(
  ran: string[],
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
  ran: string[],
  all: readonly string[],
): AsyncGenerator<SessionEvent> {
  const by = { provider: 'deployer', model: request.model };
  yield { type: 'agent_start' };
  const messages = [];
  const said: string[] = [];
  for (const [at, what] of all.entries()) {
    const call = { toolCallId: `${request.runId}-${at}`, toolName: 'deploy', args: { what } };
    const asking = say(by, [
      { type: 'text', text: `I deploy ${what}.` },
      { type: 'toolCall', id: call.toolCallId, name: call.toolName, arguments: call.args },
    ]);
    for (const event of asking.events) yield event;
    yield { type: 'tool_execution_start', ...call };
    const decision = await request.gate(call);
    if (request.signal.aborted) return;
    if (decision.allowed) ran.push(String(decision.args['what']));
    const result = decision.allowed ? `deployed ${what}` : decision.reason;
    const { toolCallId, toolName } = call;
    yield { type: 'tool_execution_end', toolCallId, toolName, result, isError: !decision.allowed };
    messages.push(asking.message);
    said.push(result);
  }
  const answered = say(by, [{ type: 'text', text: said.join('; ') || 'nothing to do' }]);
  for (const event of answered.events) yield event;
  yield { type: 'agent_end', messages: [...messages, answered.message] };
}

/** A channel in which `!NAME` is the press of a button. */
export function pressable() {
  return scriptedChannel({
    interactive: ['buttons'],
    decode: (raw): DecodedIngress | undefined => {
      const {
        text,
        conversation = 'scripted:ada',
        sender = 'ada',
      } = raw as {
        text: string;
        conversation?: string;
        sender?: string;
      };
      if (!text.startsWith('!')) return undefined;
      return {
        kind: 'interaction',
        senderProof: 'account',
        interaction: {
          ...{ interactionId: 'i', kind: 'button', name: text.slice(1), values: [] },
          ...{ channel: 'scripted', accountId: 'default', conversationId: conversation },
          sender: { id: sender },
        },
      };
    },
  });
}

export interface ApprovalLabOptions extends ActingLabOptions {
  readonly question?: Partial<AskOptions>;
  readonly argsOf?: (prompt: string) => string[];
  readonly ran?: string[];
}

/** A host whose agent deploys, and whose extension asks a human before. `ada` is an owner. */
export async function approvalLab({
  question = {},
  argsOf,
  ran = [],
  ...options
}: ApprovalLabOptions = {}) {
  const lab = await actingLab({
    channel: pressable(),
    agents: [{ id: 'main', provider: deployer(ran, argsOf) }],
    roles: { owner: ['scripted:ada'] },
    ...options,
    setup: (api: ExtensionApi) => {
      api.veto('agent.tool.calling', 'deploys', () => ask({ title: 'Deploy this?', ...question }));
      options.setup?.(api);
    },
  });
  const asked = () => lab.channel.sent.filter(({ kind }) => kind === 'approval');
  const button = (at: 0 | 1 = 0, question = -1): string =>
    asked()
      .filter(({ interactive }) => interactive !== undefined)
      .at(question)?.interactive?.buttons?.[at]?.id ?? '';
  const idOf = (question = -1): string => button(0, question).split(':')[2]?.slice(0, 8) ?? '';
  return { ...lab, ran, asked, button, idOf };
}

/** Lets the event loop turn until something is so. */
export async function until(isSo: () => boolean): Promise<void> {
  for (let turns = 0; !isSo(); turns++) {
    if (turns > 3_000) throw new Error('it never came to this');
    await new Promise(setImmediate);
  }
}
