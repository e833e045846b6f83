import type { JsonObject, PointCodec } from '../agents/codec.js';
import { pluginText } from './opencode-plugin.js';

/** The settings of the user, or those of one repository. */
export type Scope = 'user' | 'project';

/** Says how a hook starts the client: Node and the client, in the quotes of a shell. */
export type CommandOf = (point: PointCodec) => string;

/** The place of an agent's hooks, and how they are written there. */
export interface Place {
  readonly program: string;
  /** The version that the program of the codec's release prints. */
  readonly version: string;
  /** Files or folders of a repository that say that the agent is used there. */
  readonly traces: readonly string[];
  /** The file of each scope that `init` writes: below the home, or below the repository. */
  readonly file: Readonly<Record<Scope, string>>;
  /** Other files whose hooks run as well. */
  readonly others?: readonly (readonly [Scope, string])[];
  /** The variable that names the folder of the user in the place of the first part of a name. */
  readonly variable?: string;
  /** A group of hooks; a file without groups is the guard's as a whole. */
  readonly group?: (point: PointCodec, command: string) => JsonObject;
  /** The text of a file that is the guard's as a whole. */
  readonly text?: (commandOf: CommandOf) => string;
  /** The fields that a new file begins with. */
  readonly head?: JsonObject;
  /** Settings that keep all hooks from running, by their path. */
  readonly switches?: readonly (readonly [path: readonly string[], value: unknown])[];
  /** The thing that a person must do himself. */
  readonly notice?: string;
}

const inSeconds = ({ timeoutMs }: PointCodec): number => Math.ceil(timeoutMs / 1000);

/** The places of the agents that a guard knows, by the names of the agents. */
export const places: Readonly<Record<string, Place>> = {
  claude: {
    program: 'claude',
    version: '2.1.332',
    traces: ['.claude', 'CLAUDE.md'],
    file: { user: '.claude/settings.json', project: '.claude/settings.local.json' },
    others: [['project', '.claude/settings.json']],
    variable: 'CLAUDE_CONFIG_DIR',
    group: (point, command) => ({
      hooks: [
        {
          ...{ type: 'command', command, timeout: inSeconds(point) },
          ...(command.endsWith(' closed') && { onFailure: 'block' }),
        },
      ],
    }),
    switches: [
      [['disableAllHooks'], true],
      [['allowManagedHooksOnly'], true],
    ],
  },
  codex: {
    program: 'codex',
    version: '0.171.0',
    traces: ['.codex'],
    file: { user: '.codex/hooks.json', project: '.codex/hooks.json' },
    variable: 'CODEX_HOME',
    group: (point, command) => ({
      hooks: [{ type: 'command', command, timeout: inSeconds(point) }],
    }),
    notice: 'Codex runs no hook that nobody has trusted: open /hooks there, and trust them.',
  },
  gemini: {
    program: 'gemini',
    version: '0.61.0',
    traces: ['.gemini', 'GEMINI.md'],
    file: { user: '.gemini/settings.json', project: '.gemini/settings.json' },
    group: ({ hook, timeoutMs: timeout }, command) => ({
      matcher: '*',
      hooks: [{ type: 'command', name: `sluice-guard ${hook}`, command, timeout }],
    }),
    switches: [[['hooksConfig', 'enabled'], false]],
    notice: 'Gemini CLI runs the hooks of a repository only in a folder that it trusts.',
  },
  copilot: {
    program: 'copilot',
    version: '1.0.102',
    traces: ['.github/hooks', '.github/copilot-instructions.md'],
    file: {
      user: '.copilot/hooks/sluice-guard.json',
      project: '.github/hooks/sluice-guard.json',
    },
    others: [['user', '.copilot/settings.json']],
    variable: 'COPILOT_HOME',
    group: (point, command) => ({ type: 'command', command, timeoutSec: inSeconds(point) }),
    head: { version: 1 },
    switches: [[['disableAllHooks'], true]],
    notice: 'Copilot CLI runs the hooks of a repository only in a folder that it trusts.',
  },
  opencode: {
    program: 'opencode',
    version: '1.18.33',
    traces: ['.opencode', 'opencode.json', 'opencode.jsonc'],
    file: {
      user: '.config/opencode/plugin/sluice-guard.js',
      project: '.opencode/plugin/sluice-guard.js',
    },
    variable: 'XDG_CONFIG_HOME',
    text: pluginText,
  },
};
