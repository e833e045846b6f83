import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/**
 * The file and line from which a function was called: `/plugins/pigeon/index.ts:12`. The stack of a compiled file has lines of the
 * compiled text, so that a line counts only if it has the name; else it is the first line of the file that has it.
 *
 * @param called the function: its caller is looked for.
 * @param method its name in the caller's text: `api.runtime.tts.speak`.
 * @returns the file alone if no line of it has the name; nothing if the stack names no file.
 */
export function placeOfCall(called: () => unknown, method: string): string | undefined {
  const at: { stack?: unknown } = {};
  Error.captureStackTrace(at, called);
  const [, url, line] =
    /^ +at (?:.*\()?((?:file:\/\/)?\/[^?():]+)(?:\?[^():]*)?:(\d+):\d+\)?$/m.exec(
      String(at.stack),
    ) ?? [];
  if (url === undefined) return undefined;
  try {
    const file = url.startsWith('file:') ? fileURLToPath(url) : url;
    const name = method.slice(method.lastIndexOf('.') + 1);
    const lines = readFileSync(file, 'utf8').split('\n');
    const hasName = (text: string | undefined): boolean => text?.includes(name) === true;
    const found = hasName(lines[Number(line) - 1]) ? Number(line) : lines.findIndex(hasName) + 1;
    return found === 0 ? file : `${file}:${found}`;
  } catch {
    return undefined; // the file is gone, or is none
  }
}
