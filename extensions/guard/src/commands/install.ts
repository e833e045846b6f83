import { accessSync, constants, existsSync, rmSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { JsonObject, PointCodec } from '../agents/codec.js';
import { tokenOf } from '../door/place.js';
import {
  type Change,
  type Entry,
  modeOf,
  readLedger,
  readText,
  removeEmpty,
  writeAll,
  writeLedger,
} from '../install/ledger.js';
import {
  type Place,
  places,
  pointsOfAgent,
  type Scope,
  type SettingsFile,
  type Way,
} from '../install/places.js';
import { GuardError, withGroups, withoutGroups } from '../install/settings-text.js';

/** The place of a command, and the scope of the settings that it writes. */
export interface Site {
  readonly cwd: string;
  readonly home: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly scope: Scope;
}

export interface InitOptions extends Site {
  /** The names of agents; those that are found if there are none. */
  readonly agents: readonly string[];
  readonly isOpen: boolean;
  readonly isDryRun: boolean;
}

/** One file, and what has become of it. */
export interface Done {
  readonly file: string;
  readonly agent?: string;
  readonly did: 'wrote' | 'kept' | 'removed' | 'restored';
}

/** The port of a guard whose config names none. */
const usualPort = 7_867;
const configOf = (scope: Scope) => ({
  extensions: [
    {
      // Nothing is installed beside the settings of a user.
      path:
        scope === 'user' ? fileURLToPath(new URL('../index.js', import.meta.url)) : 'sluice-guard',
      required: true,
      config: { policies: ['./policies.yaml'], port: usualPort },
    },
  ],
  grants: { guard: ['veto:*', 'provide:channel', 'dispatch:*', 'send:*'] },
  channels: ['guard'],
  journal: { path: './guard.db', record: { key: './guard.db.key' } },
});
const ownFiles = (scope: Scope) => ({
  '.gitignore': 'guard/\nguard.db*\n',
  'guard.config.json': `${JSON.stringify(configOf(scope), undefined, 2)}\n`,
  'policies.yaml': `- { id: no-rm-rf, family: agent.tool.calling, match: { toolName: shell }, text: "Delete files one by one.",
    deny when: "runs(params.command, 'rm -rf')",
    expect: [{ payload: { toolName: shell, params: { command: rm -rf / } }, is: denied }] }
- { id: ask-push, family: agent.tool.calling, match: { toolName: shell }, title: "Push to the remote?",
    ask when: "runs(params.command, 'git push')",
    expect: [{ payload: { toolName: shell, params: { command: git push } }, is: asked }] }
`,
});

/** The folder of a guard: its config is there, and its token in `guard` below. */
export function siteFolder({ scope, cwd, home }: Site): string {
  return join(scope === 'user' ? home : cwd, '.sluice');
}

/**
 * Writes the hooks of agents, a config and policies; nothing at all if one file cannot be written. What stands there is kept.
 *
 * @throws GuardError in one line.
 */
export async function init(options: InitOptions): Promise<readonly Done[]> {
  const base = siteFolder(options);
  const folder = join(base, 'guard');
  const chosen = chosenPlaces(options);
  const old = readLedger(folder);
  const port = portIn(readText(join(base, 'guard.config.json')));
  const planned = (token: string) => [
    ...Object.entries(ownFiles(options.scope)).map(([name, text]) =>
      planOf({ path: join(base, name), text: (before) => before ?? text }, old),
    ),
    ...chosen.map((place) =>
      planOf(
        hooksOf(place, options, wayOf(place, { folder, token, port, isOpen: options.isOpen })),
        old,
      ),
    ),
  ];
  let plans = planned(readText(join(folder, 'token'))?.trim() ?? '');
  if (!options.isDryRun) {
    plans = planned(await tokenOf(folder));
    const others = old.filter(({ path }) => !plans.some(({ entry }) => entry.path === path));
    const entries = plans.map(({ entry }) => entry).filter(({ before, after }) => before !== after);
    writeLedger(folder, [...others, ...entries]);
    try {
      writeAll(plans.filter(({ isDue }) => isDue).map(({ change }) => change));
    } catch (thrown) {
      writeLedger(folder, old);
      throw thrown;
    }
  }
  return plans.map(({ entry: { path, agent }, isDue }) => ({
    ...{ file: path, did: isDue ? 'wrote' : 'kept' },
    ...(agent !== undefined && { agent }),
  }));
}

interface Wanted {
  readonly path: string;
  readonly text: (before: string | null) => string;
  readonly place?: Place;
  readonly mode?: number;
}

/** One file that `init` is to write: what is noted of it, and whether it is other than it has to be. */
function planOf({ path, text, place, mode }: Wanted, old: readonly Entry[]) {
  const known = old.find((one) => one.path === path);
  const current = readText(path);
  const before = textBefore(path, current, place, known);
  const after = text(before);
  const modeNow = current === null ? undefined : modeOf(path);
  const modeBefore = known === undefined ? modeNow : known.mode;
  const entry: Entry = {
    ...{ path, before, after },
    ...(place && { agent: place.codec.agent }),
    ...(modeBefore !== undefined && { mode: modeBefore }),
  };
  const isDue = after !== current || (mode !== undefined && modeNow !== mode);
  return { entry, isDue, change: toWrite(path, after, mode) };
}

/**
 * Takes back what `init` wrote. A file that somebody has changed since loses the guard's hooks alone; policies and config stay then.
 *
 * @throws GuardError in one line.
 */
export function remove(site: Site): readonly Done[] {
  const folder = join(siteFolder(site), 'guard');
  const plans = readLedger(folder).map((entry) => {
    const { path, agent, mode } = entry;
    const current = readText(path);
    const place = places.find(({ codec }) => codec.agent === agent);
    const text = textBefore(path, current, place, entry);
    return { entry, isDue: current !== text, change: toWrite(path, text, mode) };
  });
  writeAll(plans.filter(({ isDue }) => isDue).map(({ change }) => change));
  rmSync(folder, { recursive: true, force: true });
  for (const { change } of plans)
    if (change.text === null) removeEmpty(change.path, [site.cwd, site.home]);
  return plans.map(({ entry: { path: file }, isDue, change: { text } }) => ({
    file,
    did: !isDue ? 'kept' : text === null ? 'removed' : 'restored',
  }));
}

/** The text that a file has without the guard. What somebody has changed since stays. */
function textBefore(
  path: string,
  current: string | null,
  place: Place | undefined,
  entry: Entry | undefined,
): string | null {
  if (entry !== undefined && (current === entry.after || place?.text)) return entry.before;
  if (current === null || place?.group === undefined) return current;
  return withoutGroups(current, path, place.codec.agent, hookNames(place));
}

/** The agents to guard. @throws GuardError if one is not known, or none is found. */
function chosenPlaces({ agents, ...site }: InitOptions): readonly Place[] {
  const known = places.map(({ codec }) => codec.agent);
  const unknown = agents.find((name) => !known.includes(name));
  if (unknown !== undefined)
    throw new GuardError(`no agent "${unknown}" is known: ${known.join(', ')} are`);
  const found = places.filter((place) =>
    agents.length > 0 ? agents.includes(place.codec.agent) : isUsed(place, site),
  );
  if (found.length > 0) return found;
  throw new GuardError(`no agent is found here: name one by --agent, of ${known.join(', ')}`);
}

/** Returns true if an agent is installed on the machine, or used in the repository. */
export function isUsed(place: Place, { cwd, env }: Pick<Site, 'cwd' | 'env'>): boolean {
  return (
    programIn(place, env) !== undefined || place.traces.some((one) => existsSync(join(cwd, one)))
  );
}

/** The program of an agent, where the shell would find it. */
export function programIn({ program }: Place, env: Site['env']): string | undefined {
  const ends = process.platform === 'win32' ? ['.cmd', '.exe'] : [''];
  const files = (env['PATH'] ?? '')
    .split(delimiter)
    .flatMap((dir) => ends.map((end) => join(dir, program + end)));
  return files.find((file) => {
    try {
      accessSync(file, constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}

/** The path of a file of settings. */
export function pathOf(file: SettingsFile, { cwd, home, env }: Omit<Site, 'scope'>): string {
  const { scope, name, variable = '' } = file;
  const named = env[variable];
  if (scope === 'project') return join(cwd, name);
  return named ? join(named, name.slice(name.indexOf('/') + 1)) : join(home, name);
}

function hooksOf(place: Place, site: Site, way: Way): Wanted {
  const { codec, group, text, head } = place;
  const path = pathOf(place.file[site.scope], site);
  const groups = new Map(
    pointsOfAgent(codec).map(([, point]): [string, JsonObject] => [
      point.hook,
      group?.(point, way) ?? {},
    ]),
  );
  return {
    ...{ path, place },
    ...(codec.transport === 'http' && { mode: 0o600 }), // the token stands in it
    text: (before) => text?.(way) ?? withGroups(before ?? '', path, codec.agent, groups, head),
  };
}

/** The door that hooks are to call. */
interface Door {
  readonly folder: string;
  readonly token: string;
  readonly port: number;
  readonly isOpen: boolean;
}

/** The port that a config names. */
function portIn(config: string | null): number {
  return Number(/"port"\s*:\s*(\d+)/.exec(config ?? '')?.[1] ?? usualPort);
}

function wayOf({ codec: { agent } }: Place, door: Door): Way {
  const { folder, token, isOpen, port } = door;
  const client = fileURLToPath(new URL('../client/client.js', import.meta.url));
  const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;
  const start = `${quoted(process.execPath)} ${quoted(client)}`;
  return {
    token,
    isOpen,
    url: ({ hook }) => `http://127.0.0.1:${port}/hook/${agent}/${hook}`,
    // A refusal where the agent only tells would do harm: some go on for ever.
    command: ({ hook, effect }: PointCodec) =>
      `${start} ${agent} ${hook} ${quoted(folder)} ${isOpen || effect === 'observed' ? 'open' : 'closed'}`,
  };
}

const hookNames = ({ codec }: Place) => pointsOfAgent(codec).map(([, { hook }]) => hook);

const toWrite = (path: string, text: string | null, mode: number | undefined): Change => ({
  ...{ path, text },
  ...(mode !== undefined && { mode }),
});
