import { definedFields } from 'sluice-kernel/internal';
import { blocksOf, type CsdkFrame, isFields, textField } from '../frames/frame.js';
import type { DiagnosticFact } from './session-diagnostic.js';
import type { ToolCalls } from './tool-calls.js';
import { progressPartial, taskOutcome, taskPartial } from './tool-partial.js';

/**
 * The lanes of subagents: what happens there becomes an update of the main lane's call that started them, a whole
 * block at a time, or is left out (csdk §4.6). A subagent's calls are known here only to find the way back.
 */
export function subagentLanes(
  tools: ToolCalls,
  report: (fact: DiagnosticFact) => void,
  isDropped: boolean,
) {
  /** The lane of each call that a subagent made. */
  const laneOf = new Map<string, string>();
  /** The call of each task. */
  const callOfTask = new Map<string, string>();

  function progress(lane: string, frame: CsdkFrame): void {
    const call = owner(lane);
    if (call === undefined) {
      report({ kind: 'subagent_left_out', lane, type: frame.type });
      return;
    }
    const toolCallId = textField(frame, 'tool_use_id');
    const named = definedFields({ toolCallId, toolName: textField(frame, 'tool_name') });
    tools.update(call, { ...progressPartial(frame), ...named });
  }

  /** The running call of the main lane that a lane goes back to. */
  function owner(lane: string): string | undefined {
    if (isDropped) return undefined;
    const seen = new Set<string>();
    for (let id: string | undefined = lane; id !== undefined; id = laneOf.get(id)) {
      if (tools.isRunning(id)) return id;
      if (seen.has(id)) return undefined;
      seen.add(id);
    }
    return undefined;
  }

  return {
    /** A frame of a subagent's lane. */
    take(lane: string, frame: CsdkFrame): void {
      const role = frame.type;
      if (role === 'tool_progress') {
        progress(lane, frame);
        return;
      }
      const { content } = isFields(frame.message) ? frame.message : {};
      const blocks = role === 'assistant' || role === 'user' ? blocksOf(content) : [];
      if (role === 'assistant')
        for (const block of blocks)
          if (block.type === 'tool_use') laneOf.set(textField(block, 'id') ?? '', lane);
      const call = owner(lane);
      if (call === undefined || blocks.length === 0 || (role !== 'assistant' && role !== 'user')) {
        report({ kind: 'subagent_left_out', lane, type: role });
        return;
      }
      const agentId = textField(frame, 'agent_id');
      const subagentType = textField(frame, 'subagent_type');
      for (const block of blocks) {
        if (role === 'user' && block.type !== 'tool_result') continue; // its prompt: the call's own arguments
        const whose = definedFields({ agentId, subagentType });
        tools.update(call, { kind: 'subagent', lane, role, block, ...whose });
      }
    },
    /** A `system` frame: an update of a call that runs, where it is about its task. */
    task(frame: CsdkFrame): void {
      const partial = taskPartial(frame);
      if (partial === undefined) return;
      const own = textField(frame, 'tool_use_id');
      if (own !== undefined) callOfTask.set(partial.taskId, own);
      const call = own ?? callOfTask.get(partial.taskId);
      if (call !== undefined) {
        tools.update(call, partial);
        const outcome = taskOutcome(partial);
        if (outcome !== undefined) tools.taskEnded(call, outcome);
      }
      if (partial.phase === 'notification') callOfTask.delete(partial.taskId);
    },
  };
}

/** The parts of `subagentLanes` that others use. */
export type SubagentLanes = ReturnType<typeof subagentLanes>;
