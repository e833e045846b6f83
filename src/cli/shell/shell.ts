import type { Readable } from 'node:stream';
import type { Command } from 'commander';
import type { JournalKind } from '@sluice/journal/internal';
import type { TerminalScreen } from '@sluice/sdk/channel';
import type { Addition } from '../addition.js';
import type { ExitCode } from './exit-codes.js';
import type { Output } from './output.js';
import type { Palette } from './palette.js';

/** The parts of the process that a command uses. It touches no other. */
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
  /** The commands, agents and so on that other packages add. */
  readonly additions: readonly Addition[];
  /** The kinds of journals that a config may name by an address, beside those in a file. */
  readonly journals: readonly JournalKind[];
  /** Tells whether a person types into stdin, and looks at stdout. */
  readonly isTerminal: { readonly stdin: boolean; readonly stdout: boolean };
  /** The screen of a stdout that can redraw. The lines of stdout and stderr go by it, too. */
  readonly screen: TerminalScreen | undefined;
  /** Characters in a line, as the terminal is now. */
  readonly width: number;
  readonly palettes: { readonly stdout: Palette; readonly stderr: Palette };
  /** Aborted by the first Ctrl-C or SIGTERM, and when nobody reads stdout any more. */
  readonly stop: AbortSignal;
  /** Keeps secrets out of stdout and stderr from now on: a reader of a config names the secrets in it. */
  keepSecrets(secrets: readonly string[]): void;
  /** Sets the function that is asked about a Ctrl-C before `stop` aborts: `true` says that it has served its purpose. */
  onInterrupt(take: () => boolean): void;
  /** Sets the work of a SIGHUP. Without it a SIGHUP ends the process, as the platform has it. */
  onHangup(take: () => void): void;
}

/** Gives a command its arguments, its options and its work, which ends in an exit code. */
export type AddCommand = (command: Command, shell: Shell, done: (code: ExitCode) => void) => void;
