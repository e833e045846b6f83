import type { MessageWriter, SessionEvent, SessionUsage, StopReason } from 'sluice/stream';
import { ChatError } from './chat-error.js';
import type { ChatPart } from './chat-stream.js';

/** A tool call that the model wishes. */
export interface WishedCall {
  readonly toolCallId: string;
  readonly toolName: string;
  readonly args: Readonly<Record<string, unknown>>;
  /** The reason why it cannot run, for the model. */
  readonly problem?: string;
}

/** A call that grows. */
interface Growing {
  id: string;
  name: string;
  text: string;
}

/** A part of an answer, read field by field. */
interface Choice {
  readonly delta?: {
    readonly content?: unknown;
    readonly refusal?: unknown;
    readonly reasoning_content?: unknown;
    readonly reasoning?: unknown;
    readonly tool_calls?: unknown;
  } | null;
  readonly finish_reason?: unknown;
}

const nothingUsed = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 0 };

/**
 * Reads one answer of the model, and tells it as session events while it grows. The message is whole when the generator ends.
 *
 * @param idOf makes the id of a call in this run of the server's, which may be missing or come again.
 * @param before what was used for the answer before it began.
 * @returns the calls that the model wishes.
 * @throws ChatError; the message is open then.
 */
export async function* readAnswer(
  parts: AsyncIterable<ChatPart>,
  writer: MessageWriter,
  idOf: (given: string) => string,
  before: SessionUsage = nothingUsed,
): AsyncGenerator<SessionEvent, readonly WishedCall[]> {
  const calls: Growing[] = [];
  const places = new Map<unknown, Growing>();
  let usage = before;
  let finish: unknown;
  let hasChoice = false;
  for await (const part of parts) {
    usage = sumOf(before, usageOf(part.usage)) ?? usage;
    if (part.isDone && hasChoice) finish ??= 'stop'; // some say so, and nothing else
    const [choice] = Array.isArray(part.choices) ? (part.choices as readonly unknown[]) : [];
    if (choice === undefined) continue;
    hasChoice = true;
    const { delta, finish_reason } = Object(choice) as Choice; // each field is read with care
    finish = finish_reason ?? finish;
    const { content, refusal, reasoning_content, reasoning, tool_calls } = delta ?? {};
    const thought = reasoning_content ?? reasoning;
    if (isText(thought)) yield* writer.grow('thinking', thought);
    for (const one of [content, refusal].flat()) {
      const text: unknown = isText(one) ? one : Object(one).text; // some servers send blocks
      if (isText(text)) yield* writer.grow('text', text);
    }
    for (const one of Array.isArray(tool_calls) ? tool_calls : []) grow(one, calls, places);
  }
  if (!hasChoice) throw new ChatError('no-choices', 'the answer has no choices');
  if (finish === undefined) throw new ChatError('cut-stream', 'the answer ended in its middle');
  if (finish === 'content_filter')
    throw new ChatError('content-filter', 'the server has kept the answer back');
  const wished = calls.map((call) => wishOf(call, idOf, finish));
  for (const { toolCallId: id, toolName: name, args } of wished)
    yield* writer.call({ id, name, arguments: args });
  const stopReason: StopReason =
    wished.length > 0 ? 'toolUse' : finish === 'length' ? 'length' : 'stop';
  yield* writer.end({ stopReason, ...(usage.totalTokens > 0 && { usage }) });
  return wished;
}

/** Adds a piece of a call to the one that it belongs to: by its index, and by its id if that is another. */
function grow(piece: unknown, calls: Growing[], places: Map<unknown, Growing>): void {
  const { index, id, function: called } = Object(piece);
  const { name, arguments: text } = Object(called);
  const at = index ?? (isText(id) ? id : undefined);
  const known = at === undefined ? calls.at(-1) : places.get(at);
  const isNew = known === undefined || (isText(id) && known.id !== '' && known.id !== id);
  const call = isNew ? { id: '', name: '', text: '' } : known;
  if (isNew) calls.push(call);
  places.set(at, call);
  if (isText(id)) call.id = id;
  if (isText(name) && call.name !== name) call.name += name;
  if (isText(text)) call.text += text;
  else if (typeof text === 'object' && text !== null) call.text = JSON.stringify(text); // as some servers send it
}

function wishOf(
  { id, name, text }: Growing,
  idOf: (given: string) => string,
  finish: unknown,
): WishedCall {
  const call = { toolCallId: idOf(id), toolName: name };
  if (text.trim() === '') return { ...call, args: {} };
  let args: unknown;
  try {
    args = JSON.parse(text);
  } catch {
    if (finish === 'length')
      throw new ChatError('too-long', 'the answer met its limit of tokens within a tool call');
  }
  if (typeof args === 'object' && args !== null && !Array.isArray(args))
    return { ...call, args: args as WishedCall['args'] };
  const problem = `the tool did not run: its arguments are no JSON object: ${text.slice(0, 200)}`;
  return { ...call, args: {}, problem };
}

function usageOf(usage: unknown): SessionUsage | undefined {
  if (typeof usage !== 'object' || usage === null) return undefined;
  const { prompt_tokens, completion_tokens, prompt_tokens_details } = Object(usage);
  const cacheRead = tokensOf(Object(prompt_tokens_details).cached_tokens);
  const input = Math.max(0, tokensOf(prompt_tokens) - cacheRead);
  const output = tokensOf(completion_tokens);
  return { input, output, cacheRead, cacheWrite: 0, totalTokens: input + cacheRead + output };
}

function sumOf(a: SessionUsage, b: SessionUsage | undefined): SessionUsage | undefined {
  if (b === undefined) return undefined;
  return {
    input: a.input + b.input,
    output: a.output + b.output,
    cacheRead: a.cacheRead + b.cacheRead,
    cacheWrite: a.cacheWrite + b.cacheWrite,
    totalTokens: a.totalTokens + b.totalTokens,
  };
}

function tokensOf(value: unknown): number {
  return typeof value === 'number' && value > 0 ? Math.floor(value) : 0;
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}
