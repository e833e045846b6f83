import { type CsdkFrame, isTyped } from './frame.js';

/** A line that holds no frame. */
export interface MalformedLine {
  /** From 1. */
  readonly number: number;
  /** The fault of the line, in words. */
  readonly problem: string;
}

/**
 * Reads a recording of a CSDK stream: one JSON message a line. A line that holds none is named with its number,
 * and the rest goes on; blank lines are skipped. One line is held at a time.
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
  for await (const line of lines) {
    number++;
    if (line.trim() === '') continue;
    let value: unknown;
    try {
      value = JSON.parse(line);
    } catch (error) {
      onMalformed({ number, problem: `it is no JSON: ${(error as SyntaxError).message}` }); // all that JSON.parse throws
      continue;
    }
    if (isTyped(value)) yield value;
    else onMalformed({ number, problem: 'it is no message: it has no "type"' });
  }
}
