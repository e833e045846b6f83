import type { Writable } from 'node:stream';
import { withoutSecrets } from '@sluice/journal/internal';
import type { TerminalScreen } from '@sluice/sdk/channel';

/** A stream to write to, whose reader may go away. */
export interface Output {
  /** Aborts when the reader is gone: `| head -1` has read its line. Later output is dropped. */
  readonly gone: AbortSignal;
  /** Writes a text as it is. Resolves when it has been handed on; rejects if it never will be. */
  write(text: string): Promise<void>;
  /** Writes lines. A failure shows as `gone` alone. */
  lines(lines: readonly string[]): void;
  /** Resolves when all output has been handed on, or cannot be. */
  flush(): Promise<void>;
}

/** Makes an output of a stream. A reader that goes away is no error: it ends the output quietly. */
export function outputTo(stream: Writable): Output {
  const reader = new AbortController();
  const lose = (): void => reader.abort('nobody reads the output');
  stream.on('error', lose);
  const write = (text: string): Promise<void> =>
    new Promise((resolve, reject) => {
      if (reader.signal.aborted) return reject(new Error('nobody reads the output'));
      stream.write(text, (error) => {
        if (error == null) return resolve();
        lose(); // the error event comes later
        reject(error);
      });
    });
  const writeOrDrop = (text: string): Promise<void> => write(text).catch(() => undefined);
  return {
    gone: reader.signal,
    write,
    lines: (lines) => {
      if (lines.length > 0) void writeOrDrop(`${lines.join('\n')}\n`);
    },
    // an empty write costs as much as any other, and readers of files flush once a line
    flush: () => (stream.writableLength === 0 ? Promise.resolve() : writeOrDrop('')),
  };
}

/**
 * Makes an output whose lines appear above the text that grows on a screen. If stdout and stderr are one terminal, both need
 * such an output, or they would write into each other and into that text.
 */
export function screenOutput(output: Output, screen: TerminalScreen): Output {
  return {
    ...output,
    lines: (lines) => {
      // as with any output, a failure shows as `gone` alone
      if (lines.length > 0) screen.print(`${lines.join('\n')}\n`).catch(() => undefined);
    },
  };
}

/** Puts a filter before an output: errors of extensions and providers may quote the token that they were given. */
export function secretKeeper(output: Output) {
  let kept: readonly string[] = [];
  let clean = withoutSecrets(kept);
  return {
    output: {
      ...output,
      write: (text: string) => output.write(clean(text)),
      lines: (lines: readonly string[]) => output.lines(lines.map(clean)),
    },
    /** Adds secrets: from now on they are taken out of all output. */
    keep: (secrets: readonly string[]): void => {
      kept = [...kept, ...secrets];
      clean = withoutSecrets(kept);
    },
  };
}

/** Puts a scrub before the outputs that may be kept: the log, and the timelines of messages (durability §13.1). */
export function scrubbedShell<Outputs extends { readonly stdout: Output; readonly stderr: Output }>(
  shell: Outputs,
  scrub: ((text: string) => string) | undefined,
  isJson: boolean,
): Outputs {
  if (scrub === undefined) return shell;
  const scrubbed = (output: Output): Output => ({
    ...output,
    lines: (lines) => output.lines(lines.map(scrub)),
  });
  const { stdout, stderr } = shell;
  return { ...shell, stderr: scrubbed(stderr), stdout: isJson ? scrubbed(stdout) : stdout };
}
