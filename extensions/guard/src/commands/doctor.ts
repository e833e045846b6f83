import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { isDeepStrictEqual, promisify } from 'node:util';
import type { JsonObject, Point } from '../agents/codec.js';
import { isObject } from '../agents/reading.js';
import { isRunning } from '../door/place.js';
import { type Entry, readLedger, readText } from '../install/ledger.js';
import { type Place, places, pointsOfAgent } from '../install/places.js';
import { GuardError, groupsIn, isOurs, readSettings } from '../install/settings-text.js';
import { isUsed, pathOf, programIn, type Site, siteFolder } from './install.js';

/** One point of one agent. `absent`: the guard hears nothing of it. */
export interface PointState {
  readonly agent: string;
  readonly point: Point;
  readonly hook: string;
  readonly state: 'enforced' | 'observed' | 'absent';
}

/** What a guard can do on a site, and what keeps it from more. */
interface Findings {
  readonly states: PointState[];
  readonly problems: string[];
  /** Steps that a person must take himself. */
  readonly todos: string[];
  /** Facts that are no problem. */
  readonly notes: string[];
}

const run = promisify(execFile);

/** Says what the guard of a site enforces, from what is installed and from the settings as they stand. */
export async function examine(site: Site): Promise<Findings> {
  const folder = join(siteFolder(site), 'guard');
  const ledger = readLedger(folder);
  const found: Findings = { states: [], problems: [], todos: [], notes: [] };
  if (ledger.length > 0 && !(await isRunning(folder)))
    found.problems.push('the guard does not answer: start it by `sluice guard run`');
  for (const place of places) {
    const { codec, todo } = place;
    const entry = ledger.find(({ agent }) => agent === codec.agent);
    const broken = entry && brokenHooks(place, entry);
    const off = entry ? lookAround(place, site, found) : false;
    if (entry) found.notes.push(...(await releaseOf(place, site)));
    else if (isUsed(place, site))
      found.problems.push(
        `${codec.title} is not guarded: run \`sluice guard init --agent ${codec.agent}\``,
      );
    if (entry && todo) found.todos.push(todo);
    found.problems.push(...(broken?.values() ?? []));
    for (const [point, { hook, effect }] of pointsOfAgent(codec)) {
      const state = broken && !broken.has(hook) && !off ? effect : 'absent';
      found.states.push({ agent: codec.agent, point, hook, state });
    }
  }
  return found;
}

/** The hooks that do not stand as `init` wrote them, with a line about each. */
export function brokenHooks(place: Place, { path, after }: Entry): ReadonlyMap<string, string> {
  const { agent, title } = place.codec;
  const hooks = pointsOfAgent(place.codec).map(([, { hook }]) => hook);
  const all = (why: string) => new Map(hooks.map((hook) => [hook, `${title}: ${why}`]));
  try {
    const text = readText(path);
    if (text === after) return new Map();
    if (text === null) return all(`${path} is gone`);
    if (place.group === undefined) return all(`${path} was changed`);
    const [now, then] = [readSettings(text, path), readSettings(after, path)];
    const ours = (settings: JsonObject, hook: string) =>
      groupsIn(settings, hook).filter((group) => isOurs(group, agent, hook));
    const broken = hooks.filter((hook) => !isDeepStrictEqual(ours(now, hook), ours(then, hook)));
    return new Map(
      broken.map((hook) => [hook, `${title}: the hook ${hook} of ${path} is gone or changed`]),
    );
  } catch (thrown) {
    if (thrown instanceof GuardError) return all(thrown.message);
    throw thrown;
  }
}

/** Looks at all settings of an agent: for a switch that keeps hooks from running, and for other hooks. @returns whether one does. */
function lookAround(place: Place, site: Site, { problems, notes }: Findings): boolean {
  const { codec, file, others = [], group, switches = [] } = place;
  const { agent, title, points } = codec;
  const calling = points['agent.tool.calling']?.hook ?? '';
  const count = problems.length;
  for (const one of group ? [file.user, file.project, ...others] : []) {
    const path = pathOf(one, site);
    const settings = settingsIn(path);
    for (const [names, value] of switches) {
      const is = names.reduce<unknown>(
        (at, name) => (isObject(at) ? at[name] : undefined),
        settings,
      );
      if (isDeepStrictEqual(is, value))
        problems.push(`${title}: "${names.join('.')}" of ${path} switches hooks off`);
    }
    if (groupsIn(settings, calling).some((one) => !isOurs(one, agent, calling)))
      notes.push(
        `${title}: other hooks of ${calling} in ${path} may change a call that was judged`,
      );
  }
  return problems.length > count;
}

function settingsIn(path: string): JsonObject {
  try {
    return readSettings(readText(path) ?? '', path);
  } catch {
    return {}; // it is told elsewhere if the guard's hooks stand in it
  }
}

async function releaseOf(place: Place, site: Site): Promise<readonly string[]> {
  const { codec, version } = place;
  const program = programIn(place, site.env);
  if (program === undefined) return [`${codec.title} is not installed here`];
  const env = { PATH: site.env['PATH'], HOME: site.home };
  const asked = run(program, ['--version'], { env, timeout: 10_000 });
  const { stdout } = await asked.catch(() => ({ stdout: '' }));
  const found = /\d+\.\d+\.\d+[\w.-]*/.exec(stdout)?.[0] ?? 'of no known version';
  if (found === version) return [];
  return [`${codec.title} is ${found}; its hooks were read in ${version} (${codec.release})`];
}
