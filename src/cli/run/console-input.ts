import type { Host } from '../../host/index.js';
import { readLines } from '../../stream/index.js';
import type { Shell } from '../shell/shell.js';
import type { RunView } from './run-view.js';

/** The input of the console: lines, and Ctrl-C. */
export interface ConsoleInput {
  readonly lines: AsyncIterable<string>;
  /**
   * Says what a Ctrl-C was meant for: `true` for an answer that it has stopped, or for a line that was being typed. The terminal
   * drops that line and tells nobody whether there was one, so at a terminal the first Ctrl-C ends nothing.
   */
  interrupted(): boolean;
}

/** Reads the console of a host. If its input ends and other channels go on, that is said, once. */
export function consoleInput(
  { stdin, stderr }: Pick<Shell, 'stdin' | 'stderr'>,
  view: Pick<RunView, 'interrupted' | 'leaving'>,
  host: () => Pick<Host, 'abortTurns' | 'health'> | undefined,
): ConsoleInput {
  let isAsked = false;
  async function* lines(): AsyncGenerator<string> {
    for await (const line of readLines(stdin)) {
      isAsked = false;
      yield line;
    }
    const others = new Set(
      (host()?.health().accounts ?? [])
        .filter(({ channel, sendsOnly }) => channel !== 'console' && sendsOnly !== true)
        .map(({ channel }) => channel),
    );
    if (others.size > 0)
      stderr.lines([
        `sluice: the console's input has ended; the host runs on for ${[...others].join(', ')}. Ctrl-C or SIGTERM ends it.`,
      ]);
  }
  return {
    lines: lines(),
    interrupted() {
      if ((host()?.abortTurns() ?? 0) > 0) {
        stderr.lines(view.interrupted);
        isAsked = true;
        return true;
      }
      if (isAsked || view.leaving.length === 0) return false;
      isAsked = true;
      stderr.lines(view.leaving);
      return true;
    },
  };
}
