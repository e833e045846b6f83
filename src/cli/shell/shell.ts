import type { Readable } from 'node:stream';
import type { HostPlugin } from '@sluice/host';
import type { HostConfig } from '@sluice/host/internal';
import type { JournalKind } from '@sluice/journal/internal';
import type { TerminalScreen } from '@sluice/sdk/channel';
import type { Scope } from '@sluice/sdk/extension';
import type { AgentProvider } from '@sluice/sdk/stream';
import type { Command } from 'commander';
import type { Kernel, Logger, SluiceError } from 'sluice-kernel';
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
  /** A person types into stdin; a person looks at stdout, or at stderr. */
  readonly isTerminal: Readonly<Record<'stdin' | 'stdout' | 'stderr', boolean>>;
  /** The screen of a stdout that can redraw. The lines of stdout and stderr go by it, too. */
  readonly screen: TerminalScreen | undefined;
  /** Characters in a line, as the terminal is now. */
  readonly width: number;
  readonly palettes: { readonly stdout: Palette; readonly stderr: Palette };
  /** Aborted by the first Ctrl-C or SIGTERM, and when nobody reads stdout any more. */
  readonly stop: AbortSignal;
  /** Gives `stop` to a command that ends itself by it: until then a Ctrl-C or SIGTERM ends the command where it is. */
  takeStop(): AbortSignal;
  /** Keeps secrets out of stdout and stderr from now on: a reader of a config names the secrets in it. */
  keepSecrets(secrets: readonly string[]): void;
  /** Sets the function that is asked about a Ctrl-C before `stop` aborts: `true` says that it has served its purpose. */
  onInterrupt(take: () => boolean): void;
  /** Sets the work of a SIGHUP. Without it a SIGHUP ends the process, as the platform has it. */
  onHangup(take: () => void): void;
}

/** Gives a command its arguments, its options and its work, which ends in an exit code. */
export type AddCommand = (command: Command, shell: Shell, done: (code: ExitCode) => void) => void;

/**
 * An addition to the command line, as plain data: a package hands it over in the surroundings. Its code is loaded when something of it
 * is asked for: a start does not pay for the rest.
 */
export interface Addition {
  readonly commands?: readonly CommandRow[];
  /** The agents that a config or `--agent` can name. */
  readonly agents?: readonly AgentKind[];
  /** The loader of the plugins that a config or `--plugin` names; that of the first addition that has one. */
  readonly plugins?: () => Promise<PluginLoader>;
  /** The reader of recorded agent streams; that of the first addition that has one. */
  readonly recordings?: () => Promise<RecordingReader>;
}

/** A command, as the list of all commands has it. */
export interface CommandRow {
  readonly name: string;
  readonly summary: string;
  readonly load: () => Promise<{ readonly addCommand: AddCommand }>;
}

/** An agent by its name, or by its name and a text behind a colon. */
export interface AgentKind {
  readonly name: string;
  /** The ways to write it, for people. */
  readonly forms: readonly string[];
  /** The texts that name it. */
  readonly form: RegExp;
  /** The text behind the colon is a model. */
  readonly namesModel?: true;
  /** It is behind a gateway, whose address `--url` names. */
  readonly isBehindGateway?: true;
  /** Its tools have run before: the pipeline is only told of them. */
  readonly toolGate?: 'observe-only';
  readonly load: () => Promise<{ readonly makeAgent: MakeAgent }>;
}

/** One naming of an agent. */
export interface NamedAgent {
  /** The text behind the colon. */
  readonly rest: string | undefined;
  /** The folder that a path in it starts at. */
  readonly folder: string;
}

/**
 * Makes the provider that serves every agent of one kind, of all namings of it.
 *
 * @throws CommandError or SluiceError (as a rejection) if it cannot be made.
 */
export type MakeAgent = (
  named: readonly NamedAgent[],
  context: AgentContext,
) => Promise<AgentProvider>;

/** The parts of a command that agents are made with. */
export interface AgentContext extends Pick<Shell, 'cwd' | 'version' | 'stop'> {
  readonly logger: Logger;
  /** The plugins whose skills an agent may get. */
  readonly plugins: readonly LoadedPlugin[];
  readonly gateway: GatewaySetting;
  /** Ends with the command: the place of what an agent holds open. */
  readonly scope: Scope;
  /** Is told of each line of a recording that holds no message; the other lines are used. */
  readonly onMalformed: (file: string, line: MalformedLine) => void;
}

/** A plugin for a host to run, as the command line looks at it. */
export interface LoadedPlugin extends HostPlugin {
  readonly version?: string;
  readonly status: 'loaded' | 'error';
  /** The reason why it could not be set up. */
  readonly error?: SluiceError;
  /** Its tools; those of a factory have no name yet. */
  readonly tools: readonly { readonly names: readonly string[]; readonly optional: boolean }[];
  /** Its skills, each in a folder. */
  readonly skills: readonly { readonly name: string; readonly path: string }[];
  dispose(): Promise<unknown>;
}

/** Loads the plugins of a config. */
export interface PluginLoader {
  /**
   * Gives the path of a plugin that people name: a tarball, an installed plugin or a path.
   *
   * @param beside the folder beside which plugins are installed.
   */
  pluginPath(
    given: string,
    beside: string,
    shell: Pick<Shell, 'cwd' | 'env' | 'stop'>,
  ): Promise<string>;
  /** Loads plugins into a kernel. One that cannot be read is left out. Never rejects. */
  loadPlugins(
    kernel: Kernel,
    settings: PluginSettings,
    logger: Logger,
  ): Promise<{ readonly plugins: readonly LoadedPlugin[]; readonly errors: readonly unknown[] }>;
}

/** Reads recorded agent streams. */
export interface RecordingReader {
  /** Gives an agent for each run of a recording, one at a time, as the turn wants it. */
  recordedRuns(
    lines: AsyncIterable<string>,
    onMalformed: (line: MalformedLine) => void,
  ): AsyncIterable<AgentProvider>;
}

/** The gateway of the agents that are behind one. */
export interface GatewaySetting {
  /** `ws://` for this machine, `wss://` for any. */
  readonly url: string;
  readonly token?: string;
  readonly password?: string;
  /** The file of the key that this host is known by. It is made if it is missing. A user without a home has to name one. */
  readonly device?: string;
}

/** A plugin to load, with its place and its settings. */
export type PluginSetting = HostConfig['plugins'][number] & {
  /** The folder to read it from. */
  readonly from: string;
};

/** The plugins to load, with the settings of all of them. */
export interface PluginSettings extends Pick<HostConfig, 'openclaw' | 'legacy'> {
  readonly plugins: readonly PluginSetting[];
  /** The folder that the command was given in. */
  readonly workspaceDir: string;
}

/** A line that holds no message. */
export interface MalformedLine {
  /** From 1. */
  readonly number: number;
  /** The fault of the line, in words. */
  readonly problem: string;
}
