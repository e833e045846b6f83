import xterm from '@xterm/headless';
import type { Terminal } from '../../src/sdk/channel/index.js';

/** A terminal as people have one, emulated by xterm.js, with what they would see and scroll back to. */
export interface EmulatedTerminal extends Terminal {
  /** Types into it: a terminal shows that by itself. `\n` is the enter key. */
  type(text: string): Promise<void>;
  /** Resolves when it shows all that was written. */
  settled(): Promise<void>;
  /** The rows from the first that scrolled away to the last that is not empty, without the spaces at their ends. */
  rows(): string[];
  /** Where the cursor stands, in rows from the first and columns. */
  cursor(): { readonly row: number; readonly column: number };
  /** Everything that was written to it. */
  readonly written: readonly string[];
}

/** @param isBuffered it takes what is written at once, and shows it later; else a write waits for that. */
export function emulatedTerminal(columns = 20, height = 8, isBuffered = false): EmulatedTerminal {
  const terminal = new xterm.Terminal({
    cols: columns,
    rows: height,
    scrollback: 10_000,
    allowProposedApi: true,
    convertEol: true, // as the tty driver does
  });
  const written: string[] = [];
  const put = (text: string): Promise<void> =>
    new Promise((resolve) => terminal.write(text, resolve));
  const buffer = () => terminal.buffer.active;
  return {
    written,
    size: () => ({ columns, rows: height }),
    write: (text) => {
      written.push(text);
      const shown = put(text);
      return isBuffered ? undefined : shown;
    },
    settled: () => put(''),
    type: put,
    rows() {
      const rows = Array.from(
        { length: buffer().length },
        (_, at) => buffer().getLine(at)?.translateToString(true).trimEnd() ?? '',
      );
      while (rows.at(-1) === '') rows.pop();
      return rows;
    },
    cursor: () => ({ row: buffer().baseY + buffer().cursorY, column: buffer().cursorX }),
  };
}
