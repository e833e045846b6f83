import { definedFields, type FamilyName } from '../../kernel/index.js';
import type { AgentEventRow, AgentEventSource } from './row.js';

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function completed({ data }: AgentEventSource, failed: boolean): object {
  const { aborted, error, stopReason, startedAt, endedAt } = data;
  return {
    success: !failed && aborted !== true,
    ...definedFields({ aborted, stopReason, startedAtMs: startedAt, endedAtMs: endedAt }),
    ...(failed && { error: typeof error === 'string' ? error : 'the run failed' }),
  };
}

function fallback({ data }: AgentEventSource, phase: 'active' | 'cleared'): object {
  const { selectedProvider, selectedModel, activeProvider, activeModel } = data;
  const { previousActiveModel, reasonSummary, attemptSummaries, attempts } = data;
  const told = { selectedProvider, selectedModel, activeProvider, activeModel };
  return {
    provider: activeProvider ?? selectedProvider,
    model: activeModel ?? selectedModel,
    assistantTexts: [],
    fallback: {
      phase,
      ...definedFields({ ...told, previousActiveModel, reasonSummary, attemptSummaries, attempts }),
    },
  };
}

function grown(kind: 'text' | 'thinking', { data: { text, delta, mediaUrls } }: AgentEventSource) {
  return { kind, ...definedFields({ text, delta, mediaUrls }) };
}

const becomes = (family: FamilyName) => [{ family, class: 'observer' as const }];

const turn = 'For a run that a turn drives only listeners hear it: the turn dispatches.';

/** Every kind of agent event that the legacy system emits, as data (seed 004, bridge requirement). */
export const agentEventRows: readonly AgentEventRow[] = [
  {
    stream: 'lifecycle',
    phase: 'start',
    parts: becomes('agent.starting'),
    payload: ({ data, context: { isHeartbeat, isControlUiVisible, verboseLevel } }) =>
      definedFields({
        startedAtMs: data.startedAt,
        isHeartbeat,
        isUiVisible: isControlUiVisible,
        verboseLevel,
      }),
    status: 'bridged',
    why: turn,
  },
  {
    stream: 'lifecycle',
    phase: 'end',
    parts: becomes('agent.completed'),
    payload: (source) => completed(source, false),
    leftToHooks: true,
    status: 'bridged',
    why: 'The plugin hook agent_end tells of the same end a moment later, and has the messages: where a host calls the hook runner, that one dispatches. An aborted run emits no end.',
  },
  {
    stream: 'lifecycle',
    phase: 'error',
    parts: becomes('agent.completed'),
    payload: (source) => completed(source, true),
    leftToHooks: true,
    status: 'bridged',
    why: 'As end. A retry may start the same run again, which is then completed again.',
  },
  {
    stream: 'lifecycle',
    phase: 'fallback',
    parts: becomes('agent.llm.output'),
    payload: (source) => fallback(source, 'active'),
    status: 'bridged',
    why: 'No family of its own: it says who really answers, in the field fallback.',
  },
  {
    stream: 'lifecycle',
    phase: 'fallback_cleared',
    parts: becomes('agent.llm.output'),
    payload: (source) => fallback(source, 'cleared'),
    status: 'bridged',
    why: 'No family of its own: it says who really answers, in the field fallback.',
  },
  {
    stream: 'tool',
    phase: 'start',
    parts: becomes('agent.tool.calling'),
    payload: ({ data: { name, toolCallId, args } }) => ({
      toolName: name,
      ...definedFields({ toolCallId }),
      params: isRecord(args) ? args : {},
    }),
    observeOnly: true,
    leftToHooks: true,
    status: 'observe-only',
    why: 'The tool runs whatever handlers say. Where a host calls the hook runner, before_tool_call dispatches, and is a gate.',
  },
  {
    stream: 'tool',
    phase: 'update',
    parts: becomes('agent.output.delta'),
    payload: ({ data: { name, toolCallId, partialResult } }) => ({
      kind: 'tool-progress',
      ...definedFields({ toolName: name, toolCallId, partialResult }),
    }),
    status: 'bridged',
    why: turn,
  },
  {
    stream: 'tool',
    phase: 'result',
    parts: becomes('agent.tool.called'),
    payload: ({ data: { name, toolCallId, meta, isError, result }, params }) => ({
      toolName: name,
      ...definedFields({ toolCallId, meta, isError, result }),
      params: isRecord(params) ? params : {},
    }),
    leftToHooks: true,
    status: 'bridged',
    why: 'Its parameters are those of the start, where that was heard. Where a host calls the hook runner, after_tool_call dispatches.',
  },
  {
    stream: 'assistant',
    parts: becomes('agent.output.delta'),
    payload: (source) => grown('text', source),
    status: 'bridged',
    why: turn,
  },
  {
    stream: 'thinking',
    parts: becomes('agent.output.delta'),
    payload: (source) => grown('thinking', source),
    status: 'bridged',
    why: 'Its text is formatted for reading, and its delta is often the whole text again: both go on as they are.',
  },
  {
    stream: 'compaction',
    phase: 'start',
    parts: becomes('compaction.before'),
    payload: () => ({ cause: 'auto' }),
    status: 'bridged',
    why: 'The same compaction as the plugin hook before_compaction, which comes after it: one canonical event.',
  },
  {
    stream: 'compaction',
    phase: 'end',
    parts: becomes('compaction.after'),
    payload: ({ data: { willRetry } }) => ({ cause: 'auto', ...definedFields({ willRetry }) }),
    status: 'bridged',
    why: 'The same compaction as the plugin hook after_compaction, which comes after it: one canonical event.',
  },
  {
    stream: 'error',
    parts: [],
    status: 'observe-only',
    why: 'Only listeners hear it: a gateway’s notice that its client missed events. Nothing happened to the run.',
  },
];

/** The row of an event; nothing for a stream or phase that the legacy system does not emit. */
export function rowOf(stream: string, data: unknown): AgentEventRow | undefined {
  const phase = isRecord(data) ? data.phase : undefined;
  return agentEventRows.find(
    (row) => row.stream === stream && (row.phase === undefined || row.phase === phase),
  );
}
