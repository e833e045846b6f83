import { isDeepStrictEqual } from 'node:util';
import { type AgentCodec, type JsonObject, type Point, points } from '../agents/codec.js';
import { agents, codecOf } from '../agents/index.js';
import { isObject } from '../agents/reading.js';
import { isRunning } from '../door/place.js';
import { type Entry, readLedger, readText } from '../install/ledger.js';
import { type Place, places } from '../install/places.js';
import { GuardError, groupsIn, isOurs, readSettings } from '../install/settings-text.js';
import { guardFolder, hooksOf, isTraced, pathOf, type Site, versionOf } from './install.js';

/** One point of one agent. `absent`: the guard hears nothing of it. */
export interface PointState {
  readonly agent: string;
  readonly point: Point;
  readonly hook: string;
  readonly state: 'enforced' | 'observed' | 'absent';
}

/** The powers of a guard on a site, and the troubles that keep it from more. */
interface Findings {
  readonly states: PointState[];
  readonly problems: string[];
  /** Facts that are no problem, and steps that a person must take himself. */
  readonly notes: string[];
}

/** Says what the guard of a site enforces, from what is installed and from the settings as they stand. */
export async function examine(site: Site): Promise<Findings> {
  const folder = guardFolder(site);
  const ledger = readLedger(folder);
  const found: Findings = { states: [], problems: [], notes: [] };
  if (ledger.length > 0 && !(await isRunning(folder)))
    found.problems.push('the guard does not answer: start it by `sluice guard run`');
  for (const codec of agents) {
    const place = places[codec.agent];
    const entry = ledger.find(({ agent }) => agent === codec.agent);
    const heard = place && (await heardHooks(codec, place, entry, site, found));
    for (const point of points) {
      const { hook, effect } = codec.points[point] ?? {};
      if (hook === undefined || effect === undefined) continue;
      const state = heard?.includes(hook) ? effect : 'absent';
      found.states.push({ agent: codec.agent, point, hook, state });
    }
  }
  return found;
}

/** The hooks of an agent by which the guard hears of it. The rest is told among the findings. */
async function heardHooks(
  codec: AgentCodec,
  place: Place,
  entry: Entry | undefined,
  site: Site,
  { problems, notes }: Findings,
): Promise<readonly string[]> {
  const { agent, title, release } = codec;
  const version = await versionOf(place, site);
  if (entry === undefined) {
    if (version !== undefined || isTraced(place, site))
      problems.push(`${title} is not guarded: run \`sluice guard init --agent ${agent}\``);
    return [];
  }
  if (place.notice) notes.push(place.notice);
  if (version === undefined) notes.push(`${title} is not installed here`);
  else if (version !== place.version)
    notes.push(`${title} is ${version}; its hooks were read in ${place.version} (${release})`);
  const broken = brokenHooks(entry);
  const off = switchesOn(codec, place, site, notes);
  problems.push(...off, ...broken.values());
  return off.length > 0 ? [] : hooksOf(codec).filter((hook) => !broken.has(hook));
}

/** The hooks that do not stand as `init` wrote them, with a line about each. */
export function brokenHooks({ agent = '', path, after }: Entry): ReadonlyMap<string, string> {
  const codec = codecOf(agent);
  if (codec === undefined) return new Map();
  const hooks = hooksOf(codec);
  const all = (why: string) => new Map(hooks.map((hook) => [hook, `${codec.title}: ${why}`]));
  try {
    const text = readText(path);
    if (text === after) return new Map();
    if (text === null) return all(`${path} is gone`);
    if (places[agent]?.text) return all(`${path} was changed`);
    const [now, then] = [readSettings(text, path), readSettings(after, path)];
    const ours = (settings: JsonObject, hook: string) =>
      groupsIn(settings, hook).filter((group) => isOurs(group, agent, hook));
    const broken = hooks.filter((hook) => !isDeepStrictEqual(ours(now, hook), ours(then, hook)));
    return new Map(
      broken.map((hook) => [
        hook,
        `${codec.title}: the hook ${hook} of ${path} is gone or changed`,
      ]),
    );
  } catch (thrown) {
    if (thrown instanceof GuardError) return all(thrown.message);
    throw thrown;
  }
}

/** The switches in all settings of an agent that keep hooks from running. Other hooks of calls are noted. */
function switchesOn(
  { agent, title, points: own }: AgentCodec,
  { file, others = [], group, switches = [], variable }: Place,
  site: Site,
  notes: string[],
): readonly string[] {
  if (group === undefined) return [];
  const calling = own['agent.tool.calling']?.hook ?? '';
  const files = [['user', file.user], ['project', file.project], ...others] as const;
  return files.flatMap(([scope, name]) => {
    const path = pathOf(scope, name, variable, site);
    const settings = settingsIn(path);
    if (groupsIn(settings, calling).some((one) => !isOurs(one, agent, calling)))
      notes.push(
        `${title}: other hooks of ${calling} in ${path} may change a call that was judged`,
      );
    return switches
      .filter(([names, value]) => isDeepStrictEqual(fieldIn(settings, names), value))
      .map(([names]) => `${title}: "${names.join('.')}" of ${path} switches hooks off`);
  });
}

const fieldIn = (settings: JsonObject, names: readonly string[]): unknown =>
  names.reduce<unknown>((at, name) => (isObject(at) ? at[name] : undefined), settings);

function settingsIn(path: string): JsonObject {
  try {
    return readSettings(readText(path) ?? '', path);
  } catch {
    return {}; // it is told elsewhere if the guard's hooks stand in it
  }
}
