import type { TerminalScreen } from '../../channel/index.js';
import type { Output } from './output.js';

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
