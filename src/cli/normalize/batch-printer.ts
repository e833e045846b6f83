import type { Output } from '../shell/output.js';

/** The characters that are held at most before they are written. */
const mostCharacters = 65_536;

/**
 * Writes lines together that come in one turn of the event loop: a write for each costs more than to make them. No line
 * is held for longer, so that a reader of a live stream waits for nothing.
 */
export function batchPrinter(output: Output) {
  let lines: string[] = [];
  let characters = 0;
  let isDue = false;
  const write = (): void => {
    if (lines.length > 0) output.lines(lines);
    lines = [];
    characters = 0;
  };
  return {
    print(line: string): void {
      lines.push(line);
      characters += line.length;
      if (characters >= mostCharacters) write();
      else if (!isDue) {
        isDue = true;
        setImmediate(() => {
          isDue = false;
          write();
        });
      }
    },
    /** Writes the lines that are left. */
    finish: write,
  };
}
