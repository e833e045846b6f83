import { type CsdkFrame, isFields, isTyped } from './frame.js';

/** A line that holds no frame. */
export interface MalformedLine {
  /** From 1. */
  readonly number: number;
  /** The fault of the line, in words. */
  readonly problem: string;
}

/**
 * Reads a recording of a CSDK stream: one JSON message a line. A line that holds none is named with its number,
 * and the rest goes on; blank lines are skipped. A list of messages, or a value over several lines, is named once and left out
 * (csdk §12.6). One line is held at a time.
 *
 * @param onMalformed is told each line that holds no frame.
 * @example
 * for await (const frame of readFrames(readLines(file), ({ number, problem }) => warn(`line ${number}: ${problem}`)))
 *   console.log(frame.type);
 */
export async function* readFrames(
  lines: AsyncIterable<string> | Iterable<string>,
  onMalformed: (line: MalformedLine) => void,
): AsyncGenerator<CsdkFrame> {
  let number = 0;
  /** The end of a value over several lines that is left out. */
  let closing: string | undefined;
  for await (const given of lines) {
    number++;
    const line = given.trim(); // of a byte order mark, too
    if (line === '') continue;
    if (closing !== undefined) {
      if (/^\S/.test(given) && line.endsWith(closing)) closing = undefined;
      continue;
    }
    let value: unknown;
    try {
      value = JSON.parse(line);
    } catch (error) {
      closing = closingOf(line);
      const problem =
        closing === undefined
          ? `it is no JSON: ${(error as SyntaxError).message}` // all that JSON.parse throws
          : `it begins ${closing === ']' ? 'a list' : 'an object'} over several lines, which is left out: ${remedy}`;
      onMalformed({ number, problem });
      continue;
    }
    if (isTyped(value)) yield value;
    else onMalformed({ number, problem: problemOf(value) });
  }
}

const remedy = 'give one message a line';

/** The end of a list or an object that goes on in the next line. A line that was cut off begins none, and no line of a log. */
function closingOf(line: string): string | undefined {
  if (/^\[\s*(\{.*)?$/.test(line)) return ']';
  return /^\{(.*[[{])?$/.test(line) ? '}' : undefined;
}

function problemOf(value: unknown): string {
  if (Array.isArray(value)) return `it is a list: ${remedy}`;
  const list = Object.entries(isFields(value) ? value : {}).find(([, one]) => Array.isArray(one));
  if (list !== undefined) return `it has no "type", but a list in "${list[0]}": ${remedy}`;
  return 'it is no message: it has no "type"';
}
