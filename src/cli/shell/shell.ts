import type { Readable } from 'node:stream';
import type { TerminalScreen } from '../../channel/index.js';
import type { Output } from './output.js';
import type { Palette } from './palette.js';

/** What a command is given of the process that it runs in. Nothing else of it is touched. */
export interface Shell {
  /** The command line after `sluice`. */
  readonly args: readonly string[];
  readonly stdin: Readable;
  readonly stdout: Output;
  readonly stderr: Output;
  readonly cwd: string;
  /** The environment: where secrets come from. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly version: string;
  /** Whether a person types into stdin, and looks at stdout. */
  readonly isTerminal: { readonly stdin: boolean; readonly stdout: boolean };
  /** Where stdout is a terminal that can redraw: what grows there. The lines of stdout and stderr go by it, too. */
  readonly screen: TerminalScreen | undefined;
  /** Characters in a line, as the terminal is now. */
  readonly width: number;
  readonly palettes: { readonly stdout: Palette; readonly stderr: Palette };
  /** Aborted by the first Ctrl-C or SIGTERM, and when nobody reads stdout any more. */
  readonly stop: AbortSignal;
  /** Keeps secrets out of stderr from now on: whoever reads a config says which it holds. */
  keepSecrets(secrets: readonly string[]): void;
  /** Says who is asked about a Ctrl-C before `stop` is aborted: `true` says that it was meant for that alone. */
  onInterrupt(take: () => boolean): void;
  /** Says what a SIGHUP does; nobody hears one where it is unsaid. It ends the process then, as the platform has it. */
  onHangup(take: () => void): void;
}
