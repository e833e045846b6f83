import { execFile } from 'node:child_process';
import { existsSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { type AgentCodec, type PointCodec, points } from '../agents/codec.js';
import { agents, codecOf } from '../agents/index.js';
import {
  type Entry,
  readLedger,
  readText,
  removeEmpty,
  writeLedger,
  writeText,
} from '../install/ledger.js';
import { type CommandOf, type Place, places, type Scope } from '../install/places.js';
import { GuardError, withGroups, withoutGroups } from '../install/settings-text.js';

/** The place of a command. */
export interface Site {
  readonly cwd: string;
  readonly home: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The settings of the user in the place of those of the repository. */
  readonly user?: boolean;
}

/** The options of `init`. */
export interface InitOptions extends Site {
  /** The names of agents; those that are found if there are none. */
  readonly agent?: readonly string[];
  /** Calls pass while the guard is away. */
  readonly open?: boolean;
  readonly dryRun?: boolean;
}

/** One file, and what has become of it. */
export interface Done {
  readonly file: string;
  readonly agent?: string;
  readonly did: 'wrote' | 'kept' | 'removed' | 'restored';
}

const configOf = ({ user }: Site) => ({
  extensions: [
    {
      // Nothing is installed beside the settings of a user.
      path: user ? fileURLToPath(new URL('../index.js', import.meta.url)) : 'sluice-guard',
      required: true,
      config: { policies: ['./policies.yaml'], port: 7_867 },
    },
  ],
  grants: { guard: ['veto:*', 'provide:channel', 'dispatch:*', 'send:*'] },
  channels: ['guard'],
  journal: { path: './guard.db', record: { key: './guard.db.key' } },
});
const ownFiles = (site: Site) => ({
  '.gitignore': 'guard/\nguard.db*\n',
  'guard.config.json': `${JSON.stringify(configOf(site), undefined, 2)}\n`,
  'policies.yaml': `- { id: no-rm-rf, family: agent.tool.calling, match: { toolName: shell }, text: "Delete files one by one.",
    deny when: "runs(params.command, 'rm -rf')",
    expect: [{ payload: { toolName: shell, params: { command: rm -rf / } }, is: denied }] }
- { id: ask-push, family: agent.tool.calling, match: { toolName: shell }, title: "Push to the remote?",
    ask when: "runs(params.command, 'git push')",
    expect: [{ payload: { toolName: shell, params: { command: git push } }, is: asked }] }
`,
});

const scopeOf = ({ user }: Site): Scope => (user ? 'user' : 'project');

/** The folder of a guard: its config is there, and its token in `guard` below. */
const siteFolder = (site: Site): string => join(site.user ? site.home : site.cwd, '.sluice');

/** The folder of the token, and of the notes of `init`. */
export const guardFolder = (site: Site): string => join(siteFolder(site), 'guard');

/** The hooks of an agent, in the order of points. */
export const hooksOf = ({ points: own }: AgentCodec): readonly string[] =>
  points.flatMap((point) => own[point]?.hook ?? []);

/**
 * Writes the hooks of agents, a config and policies. All of them are read and noted before the first is written, so that `remove` can
 * take each back. Text that stands there is kept.
 *
 * @throws GuardError in one line.
 */
export async function init(options: InitOptions): Promise<readonly Done[]> {
  const folder = guardFolder(options);
  const old = readLedger(folder);
  const own = Object.entries(ownFiles(options)).map(([name, text]) =>
    planOf(join(dirname(folder), name), undefined, (before) => before ?? text, old),
  );
  const hooks = (await chosenAgents(options)).map((codec) => planOfHooks(codec, options, old));
  const plans = [...own, ...hooks.flat()];
  if (!options.dryRun) {
    const others = old.filter(({ path }) => !plans.some(({ entry }) => entry.path === path));
    const entries = plans.map(({ entry }) => entry).filter(({ before, after }) => before !== after);
    writeLedger(folder, [...others, ...entries]);
    for (const { entry, isDue } of plans) if (isDue) writeText(entry.path, entry.after);
  }
  return plans.map(({ entry: { path, agent }, isDue }) => ({
    ...{ file: path, did: isDue ? 'wrote' : 'kept' },
    ...(agent !== undefined && { agent }),
  }));
}

/** One file that `init` is to write: what is noted of it, and whether it is other than it has to be. */
function planOf(
  path: string,
  agent: string | undefined,
  text: (before: string | null) => string,
  old: readonly Entry[],
) {
  const current = readText(path);
  const known = old.find((one) => one.path === path);
  const before = textBefore({ path, ...(agent !== undefined && { agent }), ...known }, current);
  const entry: Entry = {
    ...{ path, before, after: text(before) },
    ...(agent !== undefined && { agent }),
  };
  return { entry, isDue: entry.after !== current };
}

function planOfHooks(
  { agent, points: own }: AgentCodec,
  options: InitOptions,
  old: readonly Entry[],
) {
  const { file, variable, group, text, head } = places[agent] ?? {};
  if (file === undefined) return [];
  const scope = scopeOf(options);
  const path = pathOf(scope, file[scope], variable, options);
  const commandOf = commandsOf(agent, guardFolder(options), options.open === true);
  const groups = new Map(
    Object.values(own).map((point) => [point.hook, group?.(point, commandOf(point)) ?? {}]),
  );
  const written = (before: string | null): string =>
    text?.(commandOf) ?? withGroups(before ?? '', path, agent, groups, head);
  return [planOf(path, agent, written, old)];
}

/**
 * Takes back what `init` wrote. A file that somebody has changed since loses the guard's hooks alone; policies and config stay then, and
 * the record always.
 *
 * @throws GuardError in one line.
 */
export function remove(at: Site): readonly Done[] {
  const folder = guardFolder(at);
  const site = dirname(folder);
  // The record and its key stay, and stay out of git.
  const isKept = (path: string) =>
    path === join(site, '.gitignore') && existsSync(join(site, 'guard.db'));
  const plans = readLedger(folder).map((entry) => {
    const { path } = entry;
    const current = readText(path);
    return { path, current, text: isKept(path) ? current : textBefore(entry, current) };
  });
  for (const { path, current, text } of plans) if (text !== current) writeText(path, text);
  rmSync(folder, { recursive: true, force: true });
  for (const { path, text } of plans) if (text === null) removeEmpty(path, [at.cwd, at.home]);
  return plans.map(({ path: file, current, text }) => ({
    file,
    did: text === current ? 'kept' : text === null ? 'removed' : 'restored',
  }));
}

/** The text that a file has without the guard. Text that somebody has changed since stays. */
function textBefore(
  { path, agent = '', before, after }: Pick<Entry, 'path' | 'agent'> & Partial<Entry>,
  current: string | null,
): string | null {
  const [place, codec] = [places[agent], codecOf(agent)];
  if (before !== undefined && (current === after || place?.text)) return before;
  if (current === null || codec === undefined || place?.text) return current;
  return withoutGroups(current, path, agent, hooksOf(codec));
}

/** The agents to guard. @throws GuardError if one is not known, or none is found. */
async function chosenAgents({ agent: names = [], ...site }: InitOptions) {
  const known = agents.map(({ agent }) => agent).join(', ');
  const unknown = names.find((name) => codecOf(name) === undefined);
  if (unknown !== undefined) throw new GuardError(`no agent "${unknown}" is known: ${known} are`);
  if (names.length > 0) return agents.filter(({ agent }) => names.includes(agent));
  const used = await Promise.all(
    agents.map(async ({ agent }) => {
      const place = places[agent];
      return place && (isTraced(place, site) || (await versionOf(place, site)) !== undefined);
    }),
  );
  const found = agents.filter((_, at) => used[at]);
  if (found.length > 0) return found;
  throw new GuardError(`no agent is found here: name one by --agent, of ${known}`);
}

/** Returns true if the repository says that an agent is used there. */
export const isTraced = ({ traces }: Place, { cwd }: Site): boolean =>
  traces.some((one) => existsSync(join(cwd, one)));

/** The version of an agent as its program prints it; nothing if it is not installed on the machine. */
export async function versionOf({ program }: Place, site: Site): Promise<string | undefined> {
  const env = { PATH: site.env['PATH'], HOME: site.home };
  try {
    const { stdout } = await run(program, ['--version'], { env, timeout: 10_000 });
    return /\d+\.\d+\.\d+[\w.-]*/.exec(stdout)?.[0] ?? 'of no known version';
  } catch (thrown) {
    const isMissing = typeof Object(thrown).code === 'string'; // ENOENT or EACCES; a number is the end of a program
    return isMissing ? undefined : 'of no known version';
  }
}

const run = promisify(execFile);

/** The path of a file of settings. */
export function pathOf(
  scope: Scope,
  name: string,
  variable = '',
  { cwd, home, env }: Site,
): string {
  if (scope === 'project') return join(cwd, name);
  const named = env[variable];
  return named ? join(named, name.slice(name.indexOf('/') + 1)) : join(home, name);
}

function commandsOf(agent: string, folder: string, isOpen: boolean): CommandOf {
  const client = fileURLToPath(new URL('../client/client.js', import.meta.url));
  const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;
  const start = `${quoted(process.execPath)} ${quoted(client)} ${agent}`;
  // A refusal where the agent only tells would do harm: some go on for ever.
  return ({ hook, effect }: PointCodec) =>
    `${start} ${hook} ${quoted(folder)} ${isOpen || effect === 'observed' ? 'open' : 'closed'}`;
}
