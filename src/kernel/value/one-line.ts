import { inertText } from './inert-text.js';

const maxTextLength = 300;

/** One line of bounded length for anything that was thrown, also where it does not want to be read. */
export function oneLine(thrown: unknown): string {
  const line = inertText(read(thrown).slice(0, maxTextLength * 4))
    .replace(/\s+/g, ' ')
    .trim();
  return line.length > maxTextLength ? `${line.slice(0, maxTextLength - 1)}…` : line;
}

function read(thrown: unknown): string {
  try {
    if (!(thrown instanceof Error)) return String(thrown);
    const { name, message } = thrown;
    return name === 'Error' ? `${message}` : `${name}: ${message}`;
  } catch {
    return 'something that cannot be read';
  }
}
