import { type Static, Type } from 'typebox';
import { defineStage } from '../stage.js';
import { annotations } from './annotations.js';
import {
  amount,
  closed,
  count,
  flag,
  oneOf,
  opaque,
  opaques,
  optional,
  text,
  texts,
} from './field.js';
import { runFields, usage } from './run.js';

const startedRunFields = { ...runFields, runId: text('The agent run.') };

export const agentStartingPayload = Type.Object(
  {
    ...startedRunFields,
    prompt: optional(text('What the agent is asked.')),
    startedAtMs: optional(amount('When the run began, in milliseconds since 1970.')),
    attempt: optional(count('Which attempt this is, from 1.')),
    isHeartbeat: optional(flag('The run was started by a timer, not by a message.')),
    isUiVisible: optional(flag('People watching the host may see the run.')),
    verboseLevel: optional(oneOf(['off', 'on', 'full'], 'How much of its tools people see.')),
  },
  closed,
);
/** The payload of `agent.starting`. */
export interface AgentStarting extends Static<typeof agentStartingPayload> {}

export const agentStarting = defineStage({
  family: 'agent.starting',
  classes: ['observer', 'augmenter'],
  mode: 'sequential',
  payload: agentStartingPayload,
  annotations: Type.Pick(
    annotations,
    ['notes', 'labels', 'context', 'memoryKeys', 'language', 'summary'],
    closed,
  ),
  replaceable: ['language', 'summary'],
  purpose: 'The last annotations before an agent run.',
  emitter: 'host',
  emittedAt: 'src/stream/run/run-bounds.ts: when a run begins',
});

export const agentOutputDeltaPayload = Type.Object(
  {
    ...startedRunFields,
    kind: oneOf(['text', 'thinking', 'tool-progress'], 'What has grown.'),
    text: optional(text('Everything of this kind so far in the message.')),
    delta: optional(text('What was added.')),
    mediaUrls: optional(texts('The media that the text names so far.')),
    messageIndex: optional(count('Which message of the run it belongs to, from 0.')),
    elapsedMs: optional(amount('How long this kind has been growing, in milliseconds.')),
    toolName: optional(text('The tool; for tool-progress.')),
    toolCallId: optional(text('The tool call; for tool-progress.')),
    partialResult: optional(opaque('What the tool has so far; for tool-progress.')),
  },
  closed,
);
/** The payload of `agent.output.delta`. */
export interface AgentOutputDelta extends Static<typeof agentOutputDeltaPayload> {}

export const agentOutputDelta = defineStage({
  family: 'agent.output.delta',
  classes: ['observer'],
  mode: 'sync-sequential',
  hotPath: true,
  payload: agentOutputDeltaPayload,
  shared: ['partialResult'],
  purpose: 'Shows output while it grows: text, thinking and the progress of tools.',
  emitter: 'host',
  emittedAt: 'src/stream/run/output-deltas.ts: for each delta that the agent provider yields',
});

export const agentCompletedPayload = Type.Object(
  {
    ...runFields,
    success: flag('The run was neither aborted nor ended by an error.'),
    aborted: optional(flag('Someone stopped it.')),
    error: optional(text('What went wrong.')),
    stopReason: optional(text('Why the last message ended, in the words of its provider.')),
    messages: optional(opaques('What the agent got of the transcript, and what the run added.')),
    startedAtMs: optional(amount('When the run began, in milliseconds since 1970.')),
    endedAtMs: optional(amount('When the run ended, in milliseconds since 1970.')),
    durationMs: optional(amount('How long it took, in milliseconds.')),
    usage: optional(usage),
  },
  closed,
);
/** The payload of `agent.completed`. */
export interface AgentCompleted extends Static<typeof agentCompletedPayload> {}

export const agentCompleted = defineStage({
  family: 'agent.completed',
  classes: ['observer', 'augmenter'],
  mode: 'sequential',
  payload: agentCompletedPayload,
  shared: ['messages'],
  annotations: Type.Pick(annotations, ['notes', 'labels', 'memoryKeys', 'summary'], closed),
  replaceable: ['summary'],
  timeoutMs: 30_000,
  stageTimeoutMs: 60_000,
  purpose: 'Captures a finished run: memory storage, metrics.',
  emitter: 'host',
  emittedAt: 'src/stream/run/run-bounds.ts: when every event of a run has been handled',
});
