import type { Host } from '@sluice/host';
import { readLines } from '@sluice/sdk/stream';
import type { Shell } from '../shell/shell.js';
import type { RunView } from './run-view.js';

/** Reads the console of a host. If its input ends and other channels go on, a line on stderr says so once. */
export function consoleInput(
  { stdin, stderr }: Pick<Shell, 'stdin' | 'stderr'>,
  view: Pick<RunView, 'interrupted' | 'leaving'>,
  host: () => Pick<Host, 'abortTurns' | 'health'> | undefined,
) {
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
    /**
     * Judges a Ctrl-C: `true` if it has stopped an answer, or may have dropped a line that was being typed. The terminal
     * drops such a line and tells nobody, so at a terminal the first Ctrl-C ends nothing.
     */
    interrupted(): boolean {
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
