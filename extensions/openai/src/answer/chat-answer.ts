import type { MessageWriter, SessionEvent, SessionUsage, StopReason } from 'sluice/stream';
import { CallPieces, type WishedCall } from './chat-calls.js';
import { type ChatPart, firstOf, type GoodEnd } from './chat-end.js';
import { type Said, TaggedThoughts } from './thoughts.js';

/** The habits of a model, as its answers before have shown them. */
export interface ModelHabits {
  /** Its answers begin within a thought that a closing tag alone ends: all is taken for one until it comes. */
  beginsInThought: boolean;
}

const nothingUsed = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 0 };

/**
 * Reads one answer of the model, and tells it as session events while it grows. The message is whole when the generator ends. An
 * answer whose text turns out to have been a thought, by a closing tag alone, becomes two messages: the thought, and the answer.
 *
 * @param idOf makes the id of a call in this run of the server's, which may be missing or come again.
 * @param before what was used for the answer before it began.
 * @param habits of the model; none by default.
 * @returns the calls that the model wishes.
 * @throws ChatError; the message is open then.
 */
export async function* readAnswer(
  parts: AsyncIterable<ChatPart>,
  writer: MessageWriter,
  idOf: (given: string) => string,
  before: SessionUsage = nothingUsed,
  habits: ModelHabits = { beginsInThought: false },
): AsyncGenerator<SessionEvent, readonly WishedCall[]> {
  const calls = new CallPieces();
  const tagged = new TaggedThoughts(habits.beginsInThought);
  /** Came in deltas: a message says all of it again. */
  const inDeltas = { thinking: false, text: false, calls: false };
  const last = { thinking: '', text: '' };
  let usage = before;
  let end: GoodEnd = 'stop';
  const report = (all: readonly Said[]): SessionEvent[] =>
    all.flatMap(([type, words = '']) => {
      if (type === 'rethink') return writer.rethink();
      return type === 'end' ? writer.end() : writer.grow(type, words);
    });
  try {
    for await (const part of parts) {
      usage = usageOf(part.usage, before) ?? usage;
      end = part.end ?? end;
      const { delta, message } = firstOf(part) ?? {};
      const [grown, whole] = [saidIn(delta), saidIn(message)];
      for (const type of ['thinking', 'text'] as const) {
        inDeltas[type] ||= grown[type] !== '';
        const words = (inDeltas[type] ? grown : whole)[type];
        const known = inDeltas[type] ? '' : last[type]; // a message may grow as a whole
        if (words === '') continue;
        last[type] = words;
        const more = words.startsWith(known) ? words.slice(known.length) : words;
        if (type === 'text') yield* report(tagged.push(more));
        else if (more !== '') yield* writer.grow(type, more);
        tagged.hasThought ||= type === 'thinking';
      }
      inDeltas.calls ||= grown.calls.length > 0;
      calls.add(inDeltas.calls ? grown.calls : whole.calls, !inDeltas.calls);
    }
  } catch (thrown) {
    yield* report(tagged.finish(false)); // nothing that was said is lost
    throw thrown;
  }
  yield* report(tagged.finish(true));
  if (last.text !== '') habits.beginsInThought = tagged.isClosedAlone;
  const wished = calls.wished(idOf, end);
  for (const { toolCallId: id, toolName: name, args } of wished)
    yield* writer.call({ id, name, arguments: args });
  const stopReason: StopReason = wished.length > 0 ? 'toolUse' : end;
  yield* writer.end({ stopReason, ...(usage.totalTokens > 0 && { usage }) });
  return wished;
}

/** The thoughts, the text and the pieces of calls in a delta or a message, read field by field. */
function saidIn(delta: unknown) {
  const { content, refusal, tool_calls, function_call, ...rest } = Object(delta);
  const blocks = [content, refusal].flat(); // some servers send blocks
  const thoughts = [rest.reasoning_content, rest.reasoning, rest.thinking, rest.reasoning_details];
  const thinking = [...thoughts, blocks.filter(isThought)].map((one) => plainOf(one));
  const called = function_call == null ? [] : { function: function_call };
  return {
    thinking: thinking.find((one) => one !== '') ?? '',
    text: plainOf(blocks.filter((one) => !isThought(one))),
    calls: [tool_calls ?? called].flat() as readonly unknown[],
  };
}

function isThought(block: unknown): boolean {
  const { type, thought } = Object(block);
  return thought === true || /think|reason|thought/.test(String(type));
}

/** The words of a text, or of blocks of any shape. */
function plainOf(value: unknown, depth = 0): string {
  if (typeof value === 'string') return value;
  if (depth > 5 || typeof value !== 'object' || value === null) return '';
  if (Array.isArray(value)) return value.map((one) => plainOf(one, depth + 1)).join('');
  const { text, thinking, reasoning, summary, content, refusal } = Object(value);
  return plainOf(text ?? thinking ?? reasoning ?? summary ?? content ?? refusal, depth + 1);
}

/** All that was used, with what was before. */
function usageOf(usage: unknown, before: SessionUsage): SessionUsage | undefined {
  if (typeof usage !== 'object' || usage === null) return undefined;
  const { prompt_tokens, completion_tokens, prompt_tokens_details } = Object(usage);
  const cacheRead = tokensOf(Object(prompt_tokens_details).cached_tokens);
  const input = Math.max(0, tokensOf(prompt_tokens) - cacheRead);
  const output = tokensOf(completion_tokens);
  return {
    input: before.input + input,
    output: before.output + output,
    cacheRead: before.cacheRead + cacheRead,
    cacheWrite: before.cacheWrite,
    totalTokens: before.totalTokens + input + cacheRead + output,
  };
}

function tokensOf(value: unknown): number {
  return typeof value === 'number' && value > 0 ? Math.floor(value) : 0;
}
