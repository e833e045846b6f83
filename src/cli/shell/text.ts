import { inertText } from 'sluice-kernel/internal';

/** The names that fields with a secret have. */
export const secretName = /(token|secret|password|passphrase|api_?key|credentials?|private_?key)$/i;

/**
 * Puts a text on one line that is safe to print: control characters, which could move a terminal's cursor or paint over
 * other lines, become spaces.
 */
export function printable(text: string): string {
  return inertText(text)
    .replace(/[\s\p{Cf}]+/gu, ' ')
    .trim();
}

/** Breaks a text between words into lines of at most `width` characters. A longer word is broken anywhere. */
export function wrap(text: string, width: number): string[] {
  const lines: string[] = [];
  let line: string[] = [];
  for (const word of text.split(' ').flatMap((long) => pieces([...long], width))) {
    if (line.length > 0 && line.length + 1 + word.length > width) {
      lines.push(line.join('').trimEnd());
      line = [];
    }
    line = line.length === 0 ? word : [...line, ' ', ...word];
  }
  return line.length === 0 ? lines : [...lines, line.join('').trimEnd()];
}

/** Cuts the characters of a word to a length. An empty word, which a double space leaves, stays one. */
function pieces(characters: readonly string[], length: number): string[][] {
  const count = Math.max(1, Math.ceil(characters.length / length));
  return Array.from({ length: count }, (_, at) => characters.slice(at * length, (at + 1) * length));
}

/** Writes a span of time in few characters: `0.04 ms`, `12 ms`, `1.5 s`. */
export function span(milliseconds: number): string {
  if (milliseconds >= 1_000) return `${(milliseconds / 1_000).toFixed(1)} s`;
  return `${milliseconds.toFixed(milliseconds >= 10 ? 0 : milliseconds >= 1 ? 1 : 2)} ms`;
}

/** Writes a number with its noun: `1 stage`, `2 stages`. */
export function counted(count: number, one: string, many: string): string {
  return `${count} ${count === 1 ? one : many}`;
}

/** Cuts a text to a number of characters; an ellipsis stands for the rest. */
export function cut(text: string, length: number): string {
  const characters = [...text];
  return characters.length <= length ? text : `${characters.slice(0, length - 1).join('')}…`;
}

/** Ends a text with a full stop, so that another sentence can follow. */
export function sentence(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`;
}

/** Puts a path into quotes if a shell would read it as several words. */
export function asWord(path: string): string {
  return /\s/.test(path) ? `"${path}"` : path;
}
