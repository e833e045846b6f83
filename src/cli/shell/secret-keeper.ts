import { withoutSecrets } from '../../host/internal.js';
import type { Output } from './output.js';

/** An output that writes none of the secrets that it knows. */
export interface SecretKeeper {
  readonly output: Output;
  /** Adds secrets: from now on they are taken out of all output. */
  keep(secrets: readonly string[]): void;
}

/** Puts a filter before an output: errors of extensions and providers may quote the token that they were given. */
export function secretKeeper(output: Output): SecretKeeper {
  let kept: readonly string[] = [];
  let clean = withoutSecrets(kept);
  return {
    output: {
      ...output,
      write: (text) => output.write(clean(text)),
      lines: (lines) => output.lines(lines.map(clean)),
    },
    keep: (secrets) => {
      kept = [...kept, ...secrets];
      clean = withoutSecrets(kept);
    },
  };
}
