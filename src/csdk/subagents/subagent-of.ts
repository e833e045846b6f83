import type { SubagentStart, ToolCall } from '../../stream/index.js';
import { textField } from '../frames/frame.js';

/** The agent that the SDK takes if a call names none. */
export const defaultAgent = 'general-purpose';

/**
 * The subagent that a tool call of the SDK starts, if it starts one: its tool for that is called `Agent`, and was called
 * `Task`. For `AgentProvider.subagentOf`.
 *
 * @example
 * const provider: AgentProvider = { id: 'claude', models, toolGate: 'enforce', subagentOf, run };
 */
export function subagentOf({ toolName, args }: ToolCall): SubagentStart | undefined {
  if (toolName !== 'Agent' && toolName !== 'Task') return undefined;
  const label = textField(args, 'description');
  return {
    agentId: textField(args, 'subagent_type') ?? defaultAgent,
    isBackground: args.run_in_background === true,
    ...(label !== undefined && { label }),
  };
}
