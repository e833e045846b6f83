import type { SubagentFact } from '@sluice/sdk/stream';
import { definedFields } from 'sluice-kernel/internal';
import { isSubagent, isTaskOver } from '../frames/background-work.js';
import type { CsdkCallback } from '../frames/callback.js';
import {
  type CsdkBlock,
  type CsdkFrame,
  isFields,
  type KnownFrame,
  knownFrame,
  textField,
} from '../frames/frame.js';
import { toolAnswers } from '../frames/tool-answer.js';
import { defaultAgent, subagentOf, workflow } from './subagent-of.js';

/** Gives the facts of subagents in a frame. */
export function factsOfFrame(frame: CsdkFrame): readonly SubagentFact[] {
  if (frame.type === 'system') return factsOfSystem(frame);
  if (frame.type !== 'user' && typeof frame.parent_tool_use_id !== 'string') return []; // most frames
  const known = knownFrame(frame);
  if (known === undefined || !('lane' in known)) return [];
  const launched = known.kind === 'user' ? launchedBy(known) : [];
  const { lane } = known;
  if (lane === null) return launched;
  const agentId = textField(frame, 'agent_id');
  const subagentId = agentId ?? lane;
  const runs: SubagentFact[] =
    agentId === undefined
      ? []
      : [{ kind: 'child_runs', child: { toolCallId: lane, childRunId: agentId, ...named(frame) } }];
  if (known.kind === 'assistant')
    return [...runs, ...known.message.content.flatMap((block) => toolStarted(block, subagentId))];
  if (known.kind === 'user') return [...runs, ...launched, ...toolsEnded(known, subagentId)];
  return runs;
}

/** Gives the facts of subagents in a hook's input. */
export function factsOfCallback(callback: CsdkCallback): readonly SubagentFact[] {
  if (callback.kind !== 'hook') return [];
  const childRunId = textField(callback.input, 'agent_id');
  if (childRunId === undefined) return [];
  const agentType = textField(callback.input, 'agent_type');
  if (callback.event === 'SubagentStart')
    return [{ kind: 'child_runs', child: { childRunId, agentId: agentType ?? defaultAgent } }];
  if (callback.event === 'SubagentStop') return [{ kind: 'child_stopped', childRunId }];
  return hasRun(callback, childRunId);
}

/** The end of a subagent's call: of some subagents, such as those of a workflow, no frame tells it. */
function hasRun(
  { event, input, toolUseId: toolCallId }: Extract<CsdkCallback, { kind: 'hook' }>,
  subagentId: string,
): readonly SubagentFact[] {
  const isError = event === 'PostToolUseFailure';
  if ((event !== 'PostToolUse' && !isError) || toolCallId === undefined) return [];
  const toolName = textField(input, 'tool_name') ?? 'unknown';
  if (subagentOf({ toolCallId, toolName, args: {} }) !== undefined) return []; // it may only have launched its own
  const result = isError ? input.error : input.tool_response;
  return [{ kind: 'tool_ended', end: { toolCallId, toolName, result, isError, subagentId } }];
}

function factsOfSystem(frame: CsdkFrame): readonly SubagentFact[] {
  const subtype = textField(frame, 'subtype');
  const childRunId = textField(frame, 'task_id');
  if (childRunId === undefined) return [];
  if (subtype === 'task_started') {
    const toolCallId = textField(frame, 'tool_use_id');
    if (!isSubagent(frame) || toolCallId === undefined) return []; // a command in the background, or another's task
    const isBackground = frame.is_backgrounded !== false;
    return [
      { kind: 'child_runs', child: { toolCallId, childRunId, isBackground, ...named(frame) } },
    ];
  }
  if (subtype === 'task_notification') return ended(childRunId, frame);
  if (subtype === 'task_updated' && isFields(frame.patch)) return ended(childRunId, frame.patch);
  return [];
}

function ended(
  childRunId: string,
  from: Readonly<Record<string, unknown>>,
): readonly SubagentFact[] {
  const status = textField(from, 'status');
  if (!isTaskOver(status)) return [];
  const error = textField(from, 'error') ?? textField(from, 'reason') ?? textField(from, 'summary');
  return [
    {
      kind: 'child_ended',
      childRunId,
      status,
      ...(status === 'failed' && error !== undefined && { error }),
    },
  ];
}

function named(frame: CsdkFrame) {
  const isWorkflow = textField(frame, 'task_type') === 'local_workflow';
  const agentId = textField(frame, 'subagent_type') ?? (isWorkflow ? workflow : defaultAgent);
  const label = textField(frame, 'task_description') ?? textField(frame, 'description');
  return { agentId, ...definedFields({ label }) };
}

/** A call has answered that its subagent was launched, and goes on in the background. */
function launchedBy(frame: Extract<KnownFrame, { kind: 'user' }>): readonly SubagentFact[] {
  const [answer, ...others] = toolAnswers(frame.content, frame.toolUseResult);
  if (answer?.isLaunch !== true || others.length > 0 || answer.callId === '') return [];
  const { callId: toolCallId, structured } = answer;
  const agentId = isFields(structured) ? textField(structured, 'agentId') : undefined;
  const childRunId = agentId ?? toolCallId;
  return [{ kind: 'child_runs', child: { toolCallId, childRunId, isBackground: true } }];
}

function toolStarted(block: CsdkBlock, subagentId: string): readonly SubagentFact[] {
  const toolCallId = textField(block, 'id');
  if (block.type !== 'tool_use' || toolCallId === undefined) return [];
  const toolName = textField(block, 'name') ?? 'unknown';
  const args = isFields(block.input) ? block.input : {};
  return [{ kind: 'tool_started', call: { toolCallId, toolName, args, subagentId } }];
}

function toolsEnded(
  { content, toolUseResult }: Extract<KnownFrame, { kind: 'user' }>,
  subagentId: string,
): readonly SubagentFact[] {
  const toolName = 'unknown'; // the call's start has the name
  return toolAnswers(content, toolUseResult).flatMap((answer) => {
    const { callId: toolCallId, structured, isError } = answer;
    if (toolCallId === '') return [];
    const result = structured ?? answer.content;
    const end = { toolCallId, toolName, result, isError, subagentId };
    return [{ kind: 'tool_ended', end } as const];
  });
}
