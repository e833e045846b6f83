import { checkOrdering } from 'sluice/csdk';
import { type AgentRequest, type SessionEvent, textOf } from 'sluice/stream';
import { expect } from 'vitest';
import type { acpLab } from './acp-lab.js';

type Lab = Pick<ReturnType<typeof acpLab>, 'provider'>;
/** Milliseconds of a test that starts programs on a slow machine. */
export const slow = 300_000;

/** The result of one turn. */
export interface Taken {
  readonly events: SessionEvent[];
  readonly kept: string[];
  /** The texts of the messages, with what they thought. */
  readonly said: string;
  readonly error: string | undefined;
}

/** A request that allows each call, with the fields that this agent reads. */
export function requestOf(prompt: string, given: Partial<AgentRequest> = {}): AgentRequest {
  return {
    ...{ runId: 'run', agentId: 'main', sessionId: 'session', sessionKey: 'agent:main:main' },
    ...{ model: 'default', prompt, attachments: [], history: [] },
    session: { context: {}, memoryKeys: [], metadata: {} },
    keepSession: () => undefined,
    gate: async ({ args }) => ({ allowed: true, args }),
    offer: () => [],
    written: () => [],
    llmCalling: () => undefined,
    llmReturning: (message) => message,
    toolReturning: async (_call, result) => result,
    tell: () => undefined,
    signal: new AbortController().signal,
    ...given,
  };
}

/** Takes one turn of an agent, as a host does. */
export async function take(
  { provider }: Lab,
  prompt: string,
  given: Partial<AgentRequest> = {},
): Promise<Taken> {
  const events: SessionEvent[] = [];
  const kept: string[] = [];
  let error: string | undefined;
  const keepSession = (token: string): void => void kept.push(token);
  const request = requestOf(prompt, { keepSession, ...given });
  try {
    for await (const event of provider.run(request)) events.push(event);
  } catch (thrown) {
    error = String(thrown);
  }
  if (error === undefined) expect(checkOrdering(events)).toEqual([]);
  const messages = events.flatMap((event) => (event.type === 'message_end' ? [event.message] : []));
  return { events, kept, said: messages.map(textOf).join('|'), error };
}

export const ends = (events: readonly SessionEvent[]) =>
  events.flatMap((event) => (event.type === 'tool_execution_end' ? [event] : []));
