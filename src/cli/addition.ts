import type { HostPlugin } from '@sluice/host';
import type { Kernel, Logger, SluiceError } from 'sluice-kernel';
import type { Scope } from '@sluice/sdk/extension';
import type { AgentProvider } from '@sluice/sdk/stream';
import type { CommandError } from './errors/command-error.js';
import type { GatewaySetting } from './settings/gateway-setting.js';
import type { MalformedLine } from './settings/recording-file.js';
import type { PluginSettings } from './settings/settings.js';
import type { AddCommand, Shell } from './shell/shell.js';

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
  readonly onMalformed: (error: CommandError) => void;
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
