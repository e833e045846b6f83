import { withoutSecrets } from '../../host/internal.js';
import type { Output } from './output.js';

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
