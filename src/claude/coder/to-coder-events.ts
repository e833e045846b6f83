import { definedFields, systemClock } from 'sluice-kernel/internal';
import { type Fields, isFields } from '../frames/frame.js';
import { isErrorResult } from '../frames/result.js';
import { assistantText } from './blocks/assistant-text.js';
import { type CoderBody, coderEvent } from './blocks/coder-body.js';
import type { CoderStreamEvent } from './blocks/coder-event.js';
import { resultErrorMessage, usageBody } from './result-outcome.js';

/** Options of `toCoderEvents`. */
export interface CoderEventsOptions {
  /** The thread of an `init` whose message names no session. */
  readonly threadId?: string;
  /** Milliseconds since 1970. The system's clock unless given. */
  readonly now?: () => number;
}

/** A row of the table: which messages it takes, and what it makes of them. */
interface Row {
  readonly takes: (type: string, message: Fields) => boolean;
  readonly gives: (message: Fields, threadId: string | undefined) => readonly CoderBody[];
}

const has =
  (...tokens: readonly string[]) =>
  (type: string): boolean =>
    tokens.some((token) => type.includes(token));

/** Seed 002's table, row by row. The first that takes a message decides (C2). */
const rows: readonly Row[] = [
  {
    takes: (type, { session_id: id }) => has('sdkinit', 'system')(type) || Boolean(id),
    gives: (message, threadId) => [initOf(message, threadId)],
  },
  {
    takes: has('partial'),
    gives: (message) => [
      { type: 'message', role: 'assistant', delta: true, text: partialText(message) },
    ],
  },
  {
    takes: has('assistant'),
    gives: (message) => [{ type: 'message', role: 'assistant', text: assistantText(message) }],
  },
  { takes: has('tool_use', 'tooluse'), gives: (message) => [flatToolUse(message)] },
  { takes: has('tool-result', 'toolresult'), gives: (message) => [flatToolResult(message)] },
  { takes: has('permission'), gives: (message) => [flatPermission(message)] },
  {
    takes: has('result'),
    gives: (message) =>
      isErrorResult(message)
        ? [{ type: 'error', message: resultErrorMessage(message) }]
        : completion(message),
  },
  { takes: has('completed', 'final'), gives: completion },
];

/**
 * The coder events of one message, by seed 002's table and nothing else: first matching row, by what its type
 * contains, in lower case. Pure. Real SDK frames nearly all carry a `session_id`, so that they give `init`, and
 * that is right here: for a whole run of them use `coderStream`.
 *
 * @example
 * toCoderEvents({ type: 'ToolUse', name: 'Bash', id: 't1', input: { command: 'ls' } });
 * // [{ type: 'tool_use', name: 'Bash', callId: 't1', args: { command: 'ls' }, provider: 'claude', ... }]
 */
export function toCoderEvents(
  message: unknown,
  { threadId, now = systemClock.now }: CoderEventsOptions = {},
): CoderStreamEvent[] {
  const ts = now();
  return bodies(message, threadId).map((body) => coderEvent(body, ts, message));
}

function bodies(message: unknown, threadId: string | undefined): readonly CoderBody[] {
  if (!isFields(message)) return [{ type: 'progress', label: unnamed }];
  const type = said(message.type);
  const row = rows.find(({ takes }) => takes(type?.toLowerCase() ?? '', message));
  return row?.gives(message, threadId) ?? [{ type: 'progress', label: type ?? unnamed }];
}

/** The label of what says no type of its own. */
export const unnamed = 'claude.event';

/** The `init` of a message: its session, else the thread that was given. */
export function initOf(message: Fields, threadId: string | undefined): CoderBody {
  return {
    type: 'init',
    ...definedFields({
      threadId: said(message.session_id) ?? threadId,
      model: said(message.model),
    }),
  };
}

/** The text of a piece: as it is, where it is one. */
export function partialText(message: Fields): string {
  const { text, content } = message;
  if (typeof text === 'string') return text;
  return typeof content === 'string' ? content : assistantText(message);
}

/** The call of a message that is one: modern and legacy field names. */
export function flatToolUse(message: Fields): Extract<CoderBody, { type: 'tool_use' }> {
  return {
    type: 'tool_use',
    name: toolName(message) ?? 'unknown',
    ...definedFields({ callId: said(message.id), args: message.input }),
  };
}

/** The answer of a message that is one. */
export function flatToolResult(message: Fields): Extract<CoderBody, { type: 'tool_result' }> {
  return {
    type: 'tool_result',
    name: toolName(message) ?? 'unknown',
    ...definedFields({ callId: said(message.tool_use_id ?? message.id), result: message.output }),
  };
}

/** The permission that a message asks for, or has got. */
export function flatPermission({ request, decision }: Fields): CoderBody {
  return { type: 'permission', ...definedFields({ request, decision: said(decision) }) };
}

function completion(message: Fields): readonly CoderBody[] {
  const usage = usageBody(message);
  return usage === undefined ? [{ type: 'done' }] : [usage, { type: 'done' }];
}

function toolName({ name, tool_name, tool }: Fields): string | undefined {
  return said(name ?? tool_name ?? tool);
}

/** A field as a text; nothing for one that is absent, or has parts of its own. */
function said(value: unknown): string | undefined {
  if (value == null || typeof value === 'object' || typeof value === 'function') return undefined;
  return String(value);
}
