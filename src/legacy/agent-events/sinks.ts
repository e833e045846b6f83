import { definedFields } from '../../kernel/index.js';
import { type AgentEventSink, sink } from './row.js';

/** The events that listeners hear of canonical dispatches, family by family: the way back of the rows. */
export const agentEventSinks: readonly AgentEventSink[] = [
  sink('agent.starting', ({ startedAtMs }) => ({
    stream: 'lifecycle',
    data: { phase: 'start', ...definedFields({ startedAt: startedAtMs }) },
  })),
  sink('agent.completed', ({ success, aborted, error, stopReason, startedAtMs, endedAtMs }) => {
    const times = definedFields({ startedAt: startedAtMs, endedAt: endedAtMs });
    if (!success && aborted !== true)
      return {
        stream: 'lifecycle',
        data: { phase: 'error', error: error ?? 'the run failed', ...times },
      };
    const how = aborted === true ? { aborted } : {};
    return {
      stream: 'lifecycle',
      data: { phase: 'end', ...times, ...how, ...definedFields({ stopReason }) },
    };
  }),
  sink('agent.llm.output', ({ fallback }) => {
    if (fallback === undefined) return undefined;
    const { phase, ...told } = fallback;
    return {
      stream: 'lifecycle',
      data: { phase: phase === 'active' ? 'fallback' : 'fallback_cleared', ...told },
    };
  }),
  sink('agent.tool.calling', ({ toolName, toolCallId, params }) => ({
    stream: 'tool',
    data: { phase: 'start', name: toolName, toolCallId, args: structuredClone(params) },
  })),
  sink('agent.tool.called', ({ toolName, toolCallId, meta, isError, error, result }) => ({
    stream: 'tool',
    data: {
      phase: 'result',
      name: toolName,
      toolCallId,
      meta,
      isError: isError ?? error !== undefined,
      result: result ?? error,
    },
  })),
  sink('agent.output.delta', ({ kind, text, delta, mediaUrls, ...tool }) => {
    if (kind === 'thinking') return { stream: 'thinking', data: definedFields({ text, delta }) };
    if (kind === 'text')
      return {
        stream: 'assistant',
        data: definedFields({ text, delta, mediaUrls: mediaUrls && [...mediaUrls] }),
      };
    const { toolName: name, toolCallId, partialResult } = tool;
    return { stream: 'tool', data: { phase: 'update', name, toolCallId, partialResult } };
  }),
  sink('compaction.before', () => ({ stream: 'compaction', data: { phase: 'start' } })),
  sink('compaction.after', ({ willRetry = false }) => ({
    stream: 'compaction',
    data: { phase: 'end', willRetry },
  })),
];
