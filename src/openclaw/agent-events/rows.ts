import { definedFields, type FamilyName, isFields, type PayloadOf } from 'sluice-kernel/internal';
import { payloadFields, recordOf, same } from '../facts/field-table.js';
import type { AgentEvent } from './event.js';
import { type AgentEventRow, becomes } from './row.js';

type Completed = PayloadOf<'agent.completed'>;

const recordOrEmpty = (value: unknown) => (isFields(value) ? value : {});

/** A field that a payload takes and that listeners do not hear of a dispatch of others. */
const unheard = (to: string) => ({ to, show: () => undefined });

const isFailed = ({ success, aborted }: Completed): boolean => !success && aborted !== true;

const times = { startedAt: 'startedAtMs', endedAt: 'endedAtMs' } as const;

const fallbackFields: Readonly<Record<string, string>> = {
  ...same('selectedProvider', 'selectedModel', 'activeProvider', 'activeModel'),
  ...same('previousActiveModel', 'reasonSummary', 'attemptSummaries', 'attempts'),
};

const fallback = (phase: string, state: 'active' | 'cleared'): AgentEventRow => ({
  stream: 'lifecycle',
  phase,
  parts: [{ family: 'agent.llm.output', class: 'observer' }],
  payload: ({ data }) => ({
    provider: data.activeProvider ?? data.selectedProvider,
    model: data.activeModel ?? data.selectedModel,
    assistantTexts: [],
    fallback: { phase: state, ...payloadFields(fallbackFields, data) },
  }),
  heard: (payload) => {
    const { fallback: told } = payload as PayloadOf<'agent.llm.output'>; // asked of that family alone
    return told?.phase === state ? recordOf(fallbackFields, told) : undefined;
  },
  status: 'bridged',
  why: 'No family of its own: it says who really answers, in the field fallback.',
});

const toolFields = { name: 'toolName', ...same('toolCallId') } as const;

const turn = 'For a run that a turn drives only listeners hear it: the turn dispatches.';

/** Every kind of agent event that the legacy system emits, as data (seed 004, bridge requirement). */
export const agentEventRows: readonly AgentEventRow[] = [
  becomes('agent.starting', {
    stream: 'lifecycle',
    phase: 'start',
    data: { startedAt: 'startedAtMs' },
    adds: ({ context: { isHeartbeat, isControlUiVisible: isUiVisible, verboseLevel } }) =>
      definedFields({ isHeartbeat, isUiVisible, verboseLevel }),
    why: turn,
  }),
  becomes('agent.completed', {
    stream: 'lifecycle',
    phase: 'end',
    data: {
      ...times,
      ...same('stopReason'),
      aborted: { to: 'aborted', show: ({ aborted }) => aborted || undefined },
    },
    adds: ({ data }) => ({ success: data.aborted !== true }),
    is: (payload) => !isFailed(payload),
    leftToHooks: true,
    why: 'The plugin hook agent_end tells of the same end a moment later, and has the messages: where a host calls the hook runner, that one dispatches. An aborted run emits no end.',
  }),
  becomes('agent.completed', {
    stream: 'lifecycle',
    phase: 'error',
    data: {
      ...times,
      stopReason: unheard('stopReason'),
      aborted: unheard('aborted'),
      error: {
        to: 'error',
        read: (error) => (typeof error === 'string' ? error : undefined),
        show: ({ error }) => error ?? 'the run failed',
      },
    },
    adds: () => ({ success: false, error: 'the run failed' }),
    is: isFailed,
    leftToHooks: true,
    why: 'As end. A retry may start the same run again, which is then completed again.',
  }),
  fallback('fallback', 'active'),
  fallback('fallback_cleared', 'cleared'),
  becomes('agent.tool.calling', {
    stream: 'tool',
    phase: 'start',
    data: {
      ...toolFields,
      args: { to: 'params', read: recordOrEmpty, show: ({ params }) => structuredClone(params) },
    },
    adds: () => ({ params: {} }),
    observeOnly: true,
    leftToHooks: true,
    why: 'The tool runs whatever handlers say. Where a host calls the hook runner, before_tool_call dispatches, and is a gate.',
  }),
  becomes('agent.output.delta', {
    stream: 'tool',
    phase: 'update',
    data: { ...toolFields, ...same('partialResult') },
    adds: () => ({ kind: 'tool-progress' }),
    is: ({ kind }) => kind === 'tool-progress',
    why: turn,
  }),
  becomes('agent.tool.called', {
    stream: 'tool',
    phase: 'result',
    data: {
      ...toolFields,
      ...same('meta'),
      isError: { to: 'isError', show: ({ isError, error }) => isError ?? error !== undefined },
      result: { to: 'result', show: ({ result, error }) => result ?? error },
    },
    adds: ({ params }) => ({ params: recordOrEmpty(params) }),
    leftToHooks: true,
    why: 'Its parameters are those of the start, where that was heard. Where a host calls the hook runner, after_tool_call dispatches.',
  }),
  becomes('agent.output.delta', {
    stream: 'assistant',
    data: {
      ...same('text', 'delta'),
      mediaUrls: { to: 'mediaUrls', show: ({ mediaUrls }) => mediaUrls && [...mediaUrls] },
    },
    adds: () => ({ kind: 'text' }),
    is: ({ kind }) => kind === 'text',
    why: turn,
  }),
  becomes('agent.output.delta', {
    stream: 'thinking',
    data: { ...same('text', 'delta'), mediaUrls: unheard('mediaUrls') },
    adds: () => ({ kind: 'thinking' }),
    is: ({ kind }) => kind === 'thinking',
    why: 'Its text is formatted for reading, and its delta is often the whole text again: both go on as they are.',
  }),
  becomes('compaction.before', {
    stream: 'compaction',
    phase: 'start',
    data: {},
    adds: () => ({ cause: 'auto' }),
    why: 'The same compaction as the plugin hook before_compaction, which comes after it: one canonical event.',
  }),
  becomes('compaction.after', {
    stream: 'compaction',
    phase: 'end',
    data: { willRetry: { to: 'willRetry', show: ({ willRetry }) => willRetry ?? false } },
    adds: () => ({ cause: 'auto' }),
    why: 'The same compaction as the plugin hook after_compaction, which comes after it: one canonical event.',
  }),
  {
    stream: 'error',
    parts: [],
    status: 'observe-only',
    why: 'Only listeners hear it: a gateway’s notice that its client missed events. Nothing happened to the run.',
  },
];

/** The row of an event; nothing for a stream or phase that the legacy system does not emit. */
export function rowOf(stream: string, data: unknown): AgentEventRow | undefined {
  const phase = isFields(data) ? data.phase : undefined;
  return agentEventRows.find(
    (row) => row.stream === stream && (row.phase === undefined || row.phase === phase),
  );
}

/** The families of which listeners hear when a turn or another bridge dispatches them. */
export const heardFamilies: ReadonlySet<FamilyName> = new Set(
  agentEventRows.flatMap(({ parts }) => parts.map(({ family }) => family)),
);

/** The event that listeners hear of a dispatch; nothing if the legacy system would emit none. */
export function heardOf(
  family: FamilyName,
  payload: object,
): Pick<AgentEvent, 'stream' | 'data'> | undefined {
  for (const { stream, phase, parts, heard } of agentEventRows) {
    const data = parts[0]?.family === family ? heard?.(payload) : undefined;
    if (data !== undefined) return { stream, data: { ...definedFields({ phase }), ...data } };
  }
  return undefined;
}
