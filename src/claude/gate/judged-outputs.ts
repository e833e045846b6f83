import { isDeepStrictEqual } from 'node:util';
import type { AgentRequest, AgentToolResult, ToolCall } from '@sluice/sdk/stream';
import { isFields } from 'sluice-kernel/internal';
import { csdkError } from '../errors.js';
import type { CsdkFrame } from '../frames/frame.js';

/** The kinds of the parts of results: the SDK chooses a shape by them. Any other `type` is a text as others are. */
const kinds: ReadonlySet<unknown> = new Set([
  ...['text', 'image', 'audio', 'document', 'resource', 'resource_link', 'base64'],
  ...['notebook', 'pdf', 'parts', 'file_unchanged', 'create', 'update'],
  ...['image/jpeg', 'image/png', 'image/gif', 'image/webp'],
]);

/** A key that a shape may ask for. A record with another key is one whose keys are free. */
const fieldName = /^[a-z]\w{0,39}$/i;

/** A result in the place of the one that the SDK has. */
interface Left {
  readonly output: unknown;
  readonly before: unknown;
  /** The lines of the result before that are not to be read; nothing if it had no text that could be changed. */
  readonly gone: readonly string[] | undefined;
}

/**
 * The results of the tools of one query as `agent.tool.returning` has left them. The SDK drops a result that has not the shape of its
 * tool, and goes on with the one it has: so texts are changed where they stand, and the frame of the result is checked.
 */
export class JudgedOutputs {
  readonly #returning: AgentRequest['toolReturning'];
  readonly #left = new Map<string, Left>();

  constructor(returning: AgentRequest['toolReturning']) {
    this.#returning = returning;
  }

  /** Judges a result. Nothing if it stays as it is. */
  async judge(
    call: ToolCall,
    response: unknown,
  ): Promise<{ readonly output: unknown } | undefined> {
    const texts = textsIn(response);
    const content = texts.map((text) => ({ type: 'text', text }) as const);
    const given: AgentToolResult = { content, isError: false, details: response };
    const judged = await this.#returning(call, given);
    if (judged === given) return undefined;
    const output = outputOf(response, texts, judged);
    const kept = textsIn(output).join('\n');
    const lines = texts.flatMap((text) => text.split('\n'));
    const gone = lines.filter((line) => line.trim() !== '' && !kept.includes(line));
    const before = response;
    this.#left.set(call.toolCallId, { output, before, gone: texts.length > 0 ? gone : undefined });
    return { output };
  }

  /**
   * Reads a frame of the SDK. The data of an MCP server come beside the result that was taken: they are left out.
   *
   * @throws SluiceError `result-not-taken`, if the SDK shows a result as it was before.
   */
  check(frame: CsdkFrame): CsdkFrame {
    const { message, tool_use_result: structured } = frame;
    let checked = frame;
    const { content } = Object(message);
    for (const block of Array.isArray(content) ? content : []) {
      const { tool_use_id: id, content: text } = Object(block);
      const left = this.#left.get(String(id));
      if (left === undefined || isDeepStrictEqual(structured, left.output)) continue;
      const shown = textsIn([text, structured]).join('\n');
      const isShown = left.gone?.some((line) => shown.includes(line)) ?? true;
      if (isShown || isDeepStrictEqual(structured, left.before))
        throw csdkError('result-not-taken', { toolCallId: String(id) });
      if (structured !== undefined) checked = { ...frame, tool_use_result: left.output };
    }
    return checked;
  }
}

/**
 * A result in the shape of its tool: the data that a handler gives, or the result with other texts. If no data is left, as of a result
 * that was kept back, nothing stays of the one before but its shape.
 */
function outputOf(
  response: unknown,
  texts: readonly string[],
  { content, details }: AgentToolResult,
): unknown {
  if (details !== undefined && !isDeepStrictEqual(details, response)) return details;
  const left = content.map((block) => (block.type === 'text' ? block.text : ''));
  const whole = left.join('\n');
  if (texts.length === 0) return whole;
  const isEmpty = texts.every((text) => text === '');
  let at = 0;
  // nobody knows which of them the model reads: one text stands for each
  const change = (text: string): string => {
    const here = at++;
    if (left.length === texts.length) return left[here] ?? '';
    return text !== '' || isEmpty ? whole : '';
  };
  const output = withTexts(response, change, details === undefined);
  return textsIn(output).length > 0 ? output : whole;
}

/** Every text in a result but the names of its kinds. */
function textsIn(value: unknown): string[] {
  const texts: string[] = [];
  withTexts(value, (text) => {
    texts.push(text);
    return text;
  });
  return texts;
}

/** @param isBlank puts 0, false and records without keys in the place of what is no text. */
function withTexts(value: unknown, change: (text: string) => string, isBlank = false): unknown {
  if (typeof value === 'string') return change(value);
  if (isBlank && typeof value === 'number') return 0;
  if (isBlank && typeof value === 'boolean') return false;
  if (Array.isArray(value)) return value.map((one) => withTexts(one, change, isBlank));
  if (!isFields(value)) return value;
  const entries = Object.entries(value).map(([key, one]): [string, unknown] => {
    const isKind = key === 'type' && kinds.has(one);
    return [key, isKind ? one : withTexts(one, change, isBlank)];
  });
  const isFree = isBlank && !entries.every(([key]) => fieldName.test(key));
  return isFree ? {} : Object.fromEntries(entries);
}
