import { expect } from 'vitest';
import {
  type AgentTurnOptions,
  type AgentTurnResult,
  echoProvider,
  runAgentTurn,
} from '../../src/agent/index.js';
import type { FamilyName, Kernel } from '../../src/kernel/internal.js';
import type {
  AgentEnd,
  AgentProvider,
  AssistantContent,
  AssistantMessage,
  SessionEvent,
  StopReason,
  TranscriptEntry,
} from '../../src/sdk/stream/index.js';
import { createTestKernel, type TestKernel } from '../../src/testing/index.js';
import { disorderOf, watched } from './ordered.js';

/** A turn in a test's hands. */
export interface TurnLab extends TestKernel {
  readonly result: Promise<AgentTurnResult>;
  /** What was appended to the transcript. */
  readonly written: readonly TranscriptEntry[];
  /** The families of the dispatches that have ended, in order. */
  families(): readonly FamilyName[];
  count(family: FamilyName): number;
}

export interface TurnLabOptions extends Partial<AgentTurnOptions> {
  readonly contribute?: (kernel: Kernel) => unknown;
  /** The provider breaks the order of session events, and is meant to. */
  readonly outOfOrder?: true;
}

/** Runs a turn in virtual time. When it has ended, the order of its session events is checked (seed 001). */
export function turnLab({ contribute, outOfOrder, ...options }: TurnLabOptions = {}): TurnLab {
  const test = createTestKernel();
  contribute?.(test.kernel);
  const written: TranscriptEntry[] = [];
  const { provider = echoProvider(), providers = [provider] } = options;
  const all = new Map(providers.map((one) => [one, watched(one)]));
  const first = all.get(provider) ?? watched(provider);
  const running = runAgentTurn({
    kernel: test.kernel,
    message: { text: 'hello' },
    runId: 'r-1',
    clock: test.clock,
    logger: test.log,
    ...options,
    provider: first.provider,
    providers: [...all.values()].map((one) => one.provider),
    session: {
      agentId: 'main',
      sessionKey: 'k',
      sessionId: 's',
      history: [],
      append: (message) => void written.push(message),
      ...options.session,
    },
  });
  const result = running.then((ended) => {
    const disorder = [first, ...all.values()].flatMap(({ runs }) => runs.flatMap(disorderOf));
    if (outOfOrder !== true) expect(disorder).toEqual([]);
    return ended;
  });
  const families = (): FamilyName[] => test.outcomes.map(({ event }) => event.family);
  const count = (family: FamilyName): number => families().filter((name) => name === family).length;
  return { ...test, result, written, families, count };
}

/** A provider that yields a script. */
export function scripted(
  run: AgentProvider['run'],
  fields: Partial<AgentProvider> = {},
): AgentProvider {
  return { id: 'scripted', models: ['m'], toolGate: 'enforce', run, ...fields };
}

export const start: SessionEvent = { type: 'agent_start' };

/** The end of a run. */
export function end(how: Omit<AgentEnd, 'type' | 'messages'> = {}): SessionEvent {
  return { type: 'agent_end', messages: [], ...how };
}

/** What a message holds besides its text, and how it ends. */
export interface SaidOptions {
  readonly thinking?: string;
  readonly calls?: readonly { readonly id: string; readonly name: string }[];
  readonly stopReason?: StopReason;
  readonly errorMessage?: string;
}

/** One message of a model, as its events: thinking, then text, both a few characters at a time. */
export function* said(text: string, options: SaidOptions = {}): Generator<SessionEvent> {
  const { thinking = '', calls = [], errorMessage } = options;
  const stopReason = options.stopReason ?? (calls.length > 0 ? 'toolUse' : 'stop');
  const content: AssistantContent[] = [];
  const message: AssistantMessage = {
    role: 'assistant',
    content,
    stopReason,
    ...(errorMessage !== undefined && { errorMessage }),
  };
  yield { type: 'message_start', message };
  for (const [type, whole] of [
    ['thinking', thinking],
    ['text', text],
  ] as const) {
    if (whole === '') continue;
    const contentIndex = content.length;
    const at = { contentIndex, partial: message };
    const grow = (grown: string): void => {
      content[contentIndex] = type === 'text' ? { type, text: grown } : { type, thinking: grown };
    };
    const update = (assistantMessageEvent: Update): SessionEvent => ({
      type: 'message_update',
      message,
      assistantMessageEvent,
    });
    grow('');
    yield update({ type: `${type}_start`, ...at });
    for (let from = 0; from < whole.length; from += 4) {
      grow(whole.slice(0, from + 4));
      yield update({ type: `${type}_delta`, delta: whole.slice(from, from + 4), ...at });
    }
    yield update({ type: `${type}_end`, content: whole, ...at });
  }
  for (const { id, name } of calls) content.push({ type: 'toolCall', id, name, arguments: {} });
  yield { type: 'message_end', message };
}

type Update = Extract<SessionEvent, { type: 'message_update' }>['assistantMessageEvent'];

/** The start and end of a tool call. */
export function toolStart(toolCallId: string, toolName = 'read'): SessionEvent {
  return { type: 'tool_execution_start', toolCallId, toolName, args: { path: 'a.txt' } };
}
export function toolEnd(toolCallId: string, toolName = 'read', result: unknown = 'done') {
  return {
    type: 'tool_execution_end',
    toolCallId,
    toolName,
    result,
    isError: false,
  } as const satisfies SessionEvent;
}
