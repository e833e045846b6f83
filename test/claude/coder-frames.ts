import type { CoderStreamEvent } from '../../src/claude/coder/blocks/coder-event.js';
import { coderStream } from '../../src/claude/coder/coder-stream.js';
import type { CsdkFrame } from '../../src/claude/frames/frame.js';
import { scriptFrames } from '../support/csdk-script.js';

type Fields = Record<string, unknown>;

/** The session of every frame that is built here. */
export const session = 's1';

/** Builders of real frames, as short as the cases that they make. */
export const frame = (type: string, fields: Fields = {}): CsdkFrame => ({
  type,
  session_id: session,
  ...fields,
});
export const init = frame('system', { subtype: 'init', model: 'claude-x' });
export const system = (subtype: string, fields: Fields = {}) =>
  frame('system', { subtype, ...fields });
export const text = (value: string) => ({ type: 'text', text: value });
export const call = (id: string, name: string, input: unknown = {}, type = 'tool_use') => ({
  type,
  id,
  name,
  input,
});
export const assistant = (id: string, content: unknown, fields: Fields = {}) =>
  frame('assistant', {
    message: { id, content, stop_reason: null, usage: { input_tokens: 9 } },
    parent_tool_use_id: null,
    ...fields,
  });
export const answer = (id: string, content: unknown, fields: Fields = {}) => ({
  type: 'tool_result',
  tool_use_id: id,
  content,
  ...fields,
});
export const user = (content: unknown, fields: Fields = {}) =>
  frame('user', { message: { role: 'user', content }, parent_tool_use_id: null, ...fields });
export const result = (fields: Fields = {}) =>
  frame('result', { subtype: 'success', is_error: false, queued_turn_count: 0, ...fields });
export const failed = (fields: Fields = {}) =>
  result({ subtype: 'error_during_execution', is_error: true, ...fields });

/** All events of a run, of its frames or of their script (`csdkScript`). */
export async function eventsOf(
  given: Parameters<typeof coderStream>[0] | string,
  options: Parameters<typeof coderStream>[1] = {},
): Promise<CoderStreamEvent[]> {
  const frames = typeof given === 'string' ? scriptFrames(given) : given;
  const events: CoderStreamEvent[] = [];
  for await (const event of coderStream(frames, { now: () => 7, ...options })) events.push(event);
  return events;
}

/**
 * Events in few characters, with ` | ` between: `init`, `+piece`, `=whole`, `call Read(t1)`, `answer Read(t1)`, `failure Read(t1)`,
 * `ask Read`, `granted Read`, `… label: detail`, `usage`, `error code`.
 */
export function told(events: readonly CoderStreamEvent[]): string {
  return events.map(toldOf).join(' | ');
}

function toldOf(event: CoderStreamEvent): string {
  switch (event.type) {
    case 'message':
      return `${event.delta === true ? '+' : '='}${event.text}`;
    case 'tool_use':
      return `call ${event.name}(${event.callId})`;
    case 'tool_result':
      return `${event.error === undefined ? 'answer' : 'failure'} ${event.name}(${event.callId})`;
    case 'permission':
      return `${event.decision ?? 'ask'} ${(event.request as { toolName: string }).toolName}`;
    case 'progress':
      return `… ${event.label}${event.detail === undefined ? '' : `: ${event.detail}`}`;
    case 'error':
      return `error ${event.code}`;
    default:
      return event.type;
  }
}

/** The texts of a run, joined: its pieces, and its wholes. */
export function textsOf(events: readonly CoderStreamEvent[]): { pieces: string; wholes: string } {
  const messages = events.filter((event) => event.type === 'message');
  const joined = (isDelta: boolean) =>
    messages
      .filter(({ delta }) => (delta === true) === isDelta)
      .map(({ text }) => text)
      .join('');
  return { pieces: joined(true), wholes: joined(false) };
}
