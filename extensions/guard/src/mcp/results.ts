import { isDeepStrictEqual } from 'node:util';
import type { Response } from './gate.js';

type Fields = Readonly<Record<string, unknown>>;

/** The answer of a tool as a judge reads it. */
export interface ReadResult {
  /** All that a model could read of it. */
  readonly text: string;
  readonly isError: boolean;
  /** The answer with another text, in which nothing else of it is left; the answer itself if the text is the same. */
  readonly remade: (text: string, isError: boolean, added?: string) => Response;
}

/** Reads an answer: a result, or an error of the protocol. */
export function readResult(response: Response): ReadResult {
  if ('error' in response) {
    const { message, code, data } = response.error;
    const all = data === undefined ? message : `${message}\n${JSON.stringify(data)}`;
    const remade = (text: string): Response =>
      text === all ? response : { ...response, error: { code, message: text } };
    return { text: all, isError: true, remade };
  }
  const { content, structuredContent, isError, _meta, ...rest } = response.result as Fields;
  const blocks = (Array.isArray(content) ? content : [content]).filter((one) => one !== undefined);
  const words = blocks.map(wordsOf).join('\n');
  const hasData = structuredContent !== undefined;
  const shape = hasData ? shapeOf(structuredContent, words) : undefined;
  const others = Object.keys(rest).length > 0 ? [JSON.stringify(rest)] : []; // old servers have other fields
  const data = hasData && shape === undefined ? [JSON.stringify(structuredContent)] : [];
  const all = [...(blocks.length > 0 ? [words] : []), ...data, ...others].join('\n');
  const failed = isError === true;
  const remade = (text: string, isRefused: boolean, added = ''): Response => {
    const extra = added === '' ? [] : [{ type: 'text', text: added }];
    if (text === all && !isRefused)
      return added === ''
        ? response
        : { ...response, result: { ...response.result, content: [...blocks, ...extra] } };
    const made = isRefused ? undefined : shape?.(text);
    const isMade = typeof made === 'object' && made !== null;
    const fields = isMade ? { structuredContent: made } : {};
    // clients refuse the result of a tool that promises data and has none, unless it is an error
    const isWrong = isRefused || failed || (hasData && !isMade);
    const result = { content: [{ type: 'text', text }, ...extra], ...fields };
    return { ...response, result: isWrong ? { ...result, isError: true } : result };
  };
  return { text: all, isError: failed, remade };
}

/** Finds how data says what the texts say: as JSON, or under one key. Gives what makes it anew of other texts; nothing if it says more. */
function shapeOf(data: unknown, words: string): ((text: string) => unknown) | undefined {
  if (isDeepStrictEqual(jsonOf(words), data)) return jsonOf;
  const [[key, value] = ['', undefined], ...more] = Object.entries(Object(data));
  return more.length === 0 && value === words ? (text) => ({ [key]: text }) : undefined;
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The text of a block; any other block as JSON, without the bytes in it. */
function wordsOf(block: unknown): string {
  const { type, text } = Object(block) as Fields;
  if (type === 'text' && typeof text === 'string') return text;
  return JSON.stringify(block, (key, value: unknown) =>
    /^(?:data|blob)$/.test(key) && typeof value === 'string' ? `[${value.length} letters]` : value,
  );
}
