import {
  type AgentCodec,
  type JsonObject,
  type Point,
  type PointCodec,
  points,
} from '../agents/codec.js';
import { agents } from '../agents/index.js';
import { pluginText } from './opencode-plugin.js';

/** Whose settings are written: those of the user, or of one repository. */
export type Scope = 'user' | 'project';

/** A file of settings: in a folder that a variable names, in the home of the user, or in the repository. */
export interface SettingsFile {
  readonly scope: Scope;
  readonly name: string;
  /** The variable that names the folder in the place of the first part of the name. */
  readonly variable?: string;
}

/** How hooks call the guard. */
export interface Way {
  /** Node and the client, in the quotes of a shell. */
  readonly command: (point: PointCodec) => string;
  readonly url: (point: PointCodec) => string;
  readonly token: string;
  /** A call passes if the guard is away. */
  readonly isOpen: boolean;
}

/** Where an agent has its hooks, and how they are written there. */
export interface Place {
  readonly codec: AgentCodec;
  readonly program: string;
  /** The version that the program of the codec's release prints. */
  readonly version: string;
  /** Files or folders of a repository that say that the agent is used there. */
  readonly traces: readonly string[];
  /** The file of each scope that `init` writes. */
  readonly file: Readonly<Record<Scope, SettingsFile>>;
  /** Other files whose hooks run as well. */
  readonly others?: readonly SettingsFile[];
  /** A group of hooks; a file without groups is the guard's as a whole. */
  readonly group?: (point: PointCodec, way: Way) => JsonObject;
  /** The text of a file that is the guard's as a whole. */
  readonly text?: (way: Way) => string;
  /** The fields that a new file begins with. */
  readonly head?: JsonObject;
  /** Settings that keep all hooks from running, by their path, and what a person must do himself. */
  readonly switches?: readonly (readonly [path: readonly string[], value: unknown])[];
  readonly todo?: string;
}

const inSeconds = ({ timeoutMs }: PointCodec): number => Math.ceil(timeoutMs / 1000);
const user = (name: string, variable?: string): SettingsFile => ({
  ...{ scope: 'user', name },
  ...(variable !== undefined && { variable }),
});
const project = (name: string): SettingsFile => ({ scope: 'project', name });

const rows: Readonly<Record<string, Omit<Place, 'codec'>>> = {
  claude: {
    program: 'claude',
    version: '2.1.332',
    traces: ['.claude', 'CLAUDE.md'],
    file: {
      user: user('.claude/settings.json', 'CLAUDE_CONFIG_DIR'),
      project: project('.claude/settings.local.json'),
    },
    others: [project('.claude/settings.json')],
    group: (point, way) => ({
      hooks: [
        point.transport === 'command'
          ? { type: 'command', command: way.command(point), timeout: inSeconds(point) }
          : {
              ...{ type: 'http', url: way.url(point), timeout: inSeconds(point) },
              headers: { Authorization: `Bearer ${way.token}` },
              ...(point.effect === 'enforced' && !way.isOpen && { onFailure: 'block' }),
            },
      ],
    }),
    switches: [
      [['disableAllHooks'], true],
      [['allowManagedHooksOnly'], true],
      [['allowedHttpHookUrls'], []],
    ],
  },
  codex: {
    program: 'codex',
    version: '0.171.0',
    traces: ['.codex'],
    file: { user: user('.codex/hooks.json', 'CODEX_HOME'), project: project('.codex/hooks.json') },
    group: (point, way) => ({
      hooks: [{ type: 'command', command: way.command(point), timeout: inSeconds(point) }],
    }),
    todo: 'Codex runs no hook that nobody has trusted: open /hooks there, and trust those of the guard.',
  },
  gemini: {
    program: 'gemini',
    version: '0.61.0',
    traces: ['.gemini', 'GEMINI.md'],
    file: { user: user('.gemini/settings.json'), project: project('.gemini/settings.json') },
    group: (point, way) => ({
      matcher: '*',
      hooks: [
        {
          ...{ type: 'command', name: `sluice-guard ${point.hook}`, command: way.command(point) },
          timeout: point.timeoutMs,
        },
      ],
    }),
    switches: [[['hooksConfig', 'enabled'], false]],
    todo: 'Gemini CLI runs the hooks of a repository only in a folder that it trusts.',
  },
  copilot: {
    program: 'copilot',
    version: '1.0.102',
    traces: ['.github/hooks', '.github/copilot-instructions.md'],
    file: {
      user: user('.copilot/hooks/sluice-guard.json', 'COPILOT_HOME'),
      project: project('.github/hooks/sluice-guard.json'),
    },
    others: [user('.copilot/settings.json', 'COPILOT_HOME')],
    group: (point, way) => ({
      ...{ type: 'command', command: way.command(point), timeoutSec: inSeconds(point) },
    }),
    head: { version: 1 },
    switches: [[['disableAllHooks'], true]],
    todo: 'Copilot CLI runs the hooks of a repository only in a folder that it trusts.',
  },
  opencode: {
    program: 'opencode',
    version: '1.18.33',
    traces: ['.opencode', 'opencode.json', 'opencode.jsonc'],
    file: {
      user: user('.config/opencode/plugin/sluice-guard.js', 'XDG_CONFIG_HOME'),
      project: project('.opencode/plugin/sluice-guard.js'),
    },
    text: pluginText,
  },
};

/** The places of all agents that a guard knows. */
export const places: readonly Place[] = agents.flatMap((codec) => {
  const row = rows[codec.agent];
  return row === undefined ? [] : [{ codec, ...row }];
});

/** The points of an agent that have a hook, in order. */
export function pointsOfAgent({
  points: own,
}: AgentCodec): readonly (readonly [Point, PointCodec])[] {
  return points.flatMap((point) => {
    const codec = own[point];
    return codec === undefined ? [] : [[point, codec] as const];
  });
}
