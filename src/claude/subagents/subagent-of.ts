import type { SubagentStart, ToolCall } from '@sluice/sdk/stream';
import { textField } from '../frames/frame.js';

/** The agent that the SDK takes if a call names none. */
export const defaultAgent = 'general-purpose';

/** The agent that a workflow is. */
export const workflow = 'workflow';

/**
 * The subagent that a tool call of the SDK starts, if it starts one: its tool for that is called `Agent`, and was called
 * `Task`. A `Workflow` with all its agents counts as one subagent, which is called `workflow`. For `AgentProvider.subagentOf`.
 *
 * @example
 * const provider: AgentProvider = { id: 'claude', models, toolGate: 'enforce', subagentOf, run };
 */
export function subagentOf({ toolName, args }: ToolCall): SubagentStart | undefined {
  if (toolName === 'Workflow') return { agentId: workflow, isBackground: true };
  if (toolName !== 'Agent' && toolName !== 'Task') return undefined;
  const label = textField(args, 'description');
  return {
    agentId: textField(args, 'subagent_type') ?? defaultAgent,
    isBackground: args.run_in_background === true,
    ...(label !== undefined && { label }),
  };
}
