import type { TerminalScreen } from '../../channel/index.js';
import type { Output } from './output.js';

/**
 * An output whose lines appear above what grows on a screen. Where stdout and stderr are one terminal, both need one: they
 * would write into each other, and into that.
 */
export function screenOutput(output: Output, screen: TerminalScreen): Output {
  return {
    ...output,
    lines: (lines) => {
      // as of any output: what becomes of them is nobody's concern, a failure shows as `gone`
      if (lines.length > 0) screen.print(`${lines.join('\n')}\n`).catch(() => undefined);
    },
  };
}
