import type { MessageWriter, SessionEvent, SessionUsage, StopReason } from 'sluice/stream';
import { CallPieces, type WishedCall } from './chat-calls.js';
import { type ChatPart, firstOf, type GoodEnd } from './chat-end.js';
import { type Said, TaggedThoughts } from './thoughts.js';

/** The habits of a model, as its answers before have shown them. */
export interface ModelHabits {
  /** Its answers begin within a thought that a closing tag alone ends: they are held back until it comes. */
  beginsInThought: boolean;
}

const nothingUsed = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 0 };

/**
 * Reads one answer of the model, and tells it as session events while it grows. The message is whole when the generator ends. An
 * answer whose text turns out to have been a thought, by a closing tag alone, becomes two messages: the thought, and the answer.
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
  habits: ModelHabits,
  before: SessionUsage = nothingUsed,
): AsyncGenerator<SessionEvent, readonly WishedCall[]> {
  const calls = new CallPieces();
  const tagged = new TaggedThoughts(habits.beginsInThought);
  const whole = { text: '', thinking: '' };
  let hasDelta = false;
  let hasText = false;
  let usage = before;
  let end: GoodEnd = 'stop';
  const tell = (all: readonly Said[]): SessionEvent[] =>
    all.flatMap(([type, words = '']) => {
      if (type === 'rethink') return writer.rethink();
      return type === 'end' ? writer.end() : writer.grow(type, words);
    });
  try {
    for await (const part of parts) {
      usage = sumOf(before, usageOf(part.usage)) ?? usage;
      end = part.end ?? end;
      const { delta, message } = firstOf(part) ?? {};
      const grown = readSaid(delta);
      const isDelta = grown.words.length > 0 || grown.calls !== undefined;
      if (!isDelta && hasDelta) continue; // a message says all of it again
      const said = isDelta ? grown : readSaid(message);
      for (const { type, words } of said.words) {
        const isAgain = !isDelta && words.startsWith(whole[type]); // it grows as a whole
        const more = isAgain ? words.slice(whole[type].length) : words;
        if (!isDelta) whole[type] = words;
        if (more === '') continue;
        hasText ||= type === 'text';
        if (type === 'thinking') tagged.hasThought = true;
        yield* type === 'text' ? tell(tagged.push(more)) : writer.grow(type, more);
      }
      if (said.calls !== undefined) calls.add(said.calls, !isDelta);
      hasDelta ||= isDelta;
    }
  } catch (thrown) {
    yield* tell(tagged.finish(false)); // nothing that was said is lost
    throw thrown;
  }
  yield* tell(tagged.finish(true));
  if (hasText) habits.beginsInThought = tagged.isClosedAlone;
  const wished = calls.wished(idOf, end);
  for (const { toolCallId: id, toolName: name, args } of wished)
    yield* writer.call({ id, name, arguments: args });
  const stopReason: StopReason = wished.length > 0 ? 'toolUse' : end;
  yield* writer.end({ stopReason, ...(usage.totalTokens > 0 && { usage }) });
  return wished;
}

/** Words of a delta or a message. */
interface Words {
  readonly type: 'text' | 'thinking';
  words: string;
}

/** Reads a delta or a message field by field: its thoughts, then its text, and its calls. */
function readSaid(delta: unknown): { readonly words: readonly Words[]; readonly calls: unknown } {
  const { content, refusal, tool_calls, function_call, ...rest } = Object(delta);
  const thoughts = [rest.reasoning_content, rest.reasoning, rest.thinking, rest.reasoning_details];
  const thinking = thoughts.map((one) => plainOf(one)).find((one) => one !== '') ?? '';
  const words: Words[] = thinking === '' ? [] : [{ type: 'thinking', words: thinking }];
  for (const one of [content, refusal].flat()) {
    const { type: kind = '', thought } = Object(one); // some servers send blocks
    const isThought = thought === true || /think|reason|thought/.test(String(kind));
    const type = isThought ? 'thinking' : 'text';
    const last = words.at(-1);
    const plain = plainOf(one);
    if (last?.type === type) last.words += plain;
    else if (plain !== '') words.push({ type, words: plain });
  }
  const called = function_call == null ? undefined : [{ function: function_call }];
  const calls = tool_calls ?? called;
  return { words, calls };
}

/** The words of a text, or of blocks of any shape. */
function plainOf(value: unknown, depth = 0): string {
  if (typeof value === 'string') return value;
  if (depth > 5 || typeof value !== 'object' || value === null) return '';
  if (Array.isArray(value)) return value.map((one) => plainOf(one, depth + 1)).join('');
  const { text, thinking, reasoning, summary, content, refusal } = Object(value);
  return plainOf(text ?? thinking ?? reasoning ?? summary ?? content ?? refusal, depth + 1);
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
