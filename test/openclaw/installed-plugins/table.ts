import { heading, table } from '../../support/generated.js';
import type { Found } from './child/found.js';
import type { CorpusPlugin } from './corpus.js';

/** The kinds of things that a plugin registers, each with the words that a call of one begins with. */
const kinds = {
  Hooks: ['hook '],
  Tools: ['tool '],
  Commands: ['command '],
  Services: ['service '],
  Channels: ['channel '],
  'CLI, routes, methods': ['cli ', 'route ', 'method '],
} as const;

/** Everything that was found, by the plugins' ids. */
export type Record62 = Readonly<Record<string, Found>>;

/** The ways in which a call can end that say: it did what it should. */
const good = /^(?:works|starts|replies|answers|talks both ways|sends)$/;

/** Tells how a call ended. */
export function kindOfEnd(end: string): 'works' | 'not tried' | 'refused' | 'fails' {
  if (good.test(end)) return 'works';
  if (end.startsWith('not tried: ')) return 'not tried';
  return end.startsWith('refused: ') ? 'refused' : 'fails';
}

/** The page about the plugins that were tried. */
export function page(corpus: readonly CorpusPlugin[], found: Record62): string {
  const rows = corpus.map((plugin) => rowOf(plugin, found[plugin.id]));
  const head = ['Plugin', 'Loads', 'OpenClaw’s code', ...Object.keys(kinds), 'Refused by name'];
  const rest = corpus.flatMap((plugin) => restOf(plugin, found[plugin.id]));
  return [
    heading('Plugins that were tried', about, 'test/openclaw/installed-plugins'),
    summary(corpus, found),
    '',
    table(head, rows),
    '',
    '## The calls that did not work',
    '',
    rest.length === 0 ? 'None.' : table(['Plugin', 'Call', 'Its end'], rest),
    '',
  ].join('\n');
}

const about = [
  'The job `npm run test:plugins` loads published OpenClaw plugins as `sluice run` does, each in a process of its own,',
  'with placeholder configuration, a temporary home and no network. It calls everything that a plugin registers once.',
  'The table is its result, and it fails if a result changes. It tries the plugins with a star; `PLUGINS=all` tries all.',
  '',
  'A hook works if its handlers were called and none failed or complained in the log; a service, if it has started; a',
  'command, if it has replied; a tool, which an agent of the host calls with arguments made of its schema, if its answer',
  'is no error; a route, which is asked with an empty object, if the plugin answers it, also if it refuses such a request;',
  'a gateway method, if it responds that it did; a command line, if it does not fail. The corpus has the arguments of calls',
  'that need particular ones, and stand-ins on loopback for the services and programs that a plugin asks. They answer by',
  'a table: a call that works shows that the plugin runs here, and not that the real service takes what it says. A call',
  'that needs more of the outside is listed with what it needs.',
  'The accounts of channels are started; a channel works if `npm run test:channels` talks both ways by it, with a server.',
  '',
  'A cell says how many of the things that the plugin registered worked. `own` is the code that Sluice offers in place of',
  '`openclaw/plugin-sdk`. “Refused by name” lists the members of the API that the plugin asked for and that are not here.',
  'The six plugins for OpenClaw 2026.9 run on Node 22, beside openclaw@2026.9.6.',
  '',
  'Beside them `npm run test:channels` talks both ways by `@openclaw/signal` 2026.9.6, `@openclaw/mattermost` 2026.9.5 and',
  '`@openclaw/feishu` 2026.9.5, with a server on loopback. The table does not have them yet.',
].join('\n');

function summary(corpus: readonly CorpusPlugin[], found: Record62): string {
  const all = corpus.flatMap(({ id }) => found[id] ?? []);
  const loaded = all.filter(({ loads }) => loads === 'yes').length;
  const calls = all.flatMap((one) => Object.entries(one.calls));
  const others = (kind: ReturnType<typeof kindOfEnd>): number =>
    calls.filter(([, end]) => kindOfEnd(end) === kind).length;
  const counts = Object.entries(kinds).map(([kind, words]) => {
    const ends = endsOf(calls, words);
    return `${kind.toLowerCase().replace('cli', 'CLI')}: ${ends.filter(isWorking).length} of ${ends.length}`;
  });
  return [
    `Of ${corpus.length} plugins ${loaded} load, and ${corpus.length - all.length} were not tried.`,
    'Of the things that they register, these worked:',
    '',
    ...counts.map((count) => `- ${count}`),
    '',
    `Of the others ${others('not tried')} need something of the outside, ${others('refused')} ask for a member that is not here, and ${others('fails')} fail.`,
  ].join('\n');
}

function rowOf({ id, spec, absent, inCi }: CorpusPlugin, found: Found | undefined): string[] {
  const name = `${spec ?? `bundled: ${id.replace(/^oc-/, '')}`}${inCi ? ' *' : ''}`;
  const untried = `not tried: needs ${absent ?? ''}, which is not in the registry`;
  if (found === undefined) return [name, untried, '', ...Object.keys(kinds).map(() => ''), ''];
  const calls = Object.entries(found.calls);
  const cells = Object.values(kinds).map((words) => {
    const ends = endsOf(calls, words);
    return ends.length === 0 ? '' : `${ends.filter(isWorking).length} of ${ends.length}`;
  });
  const refused = found.refused.map((member) => `\`${member}\``).join(', ');
  return [name, found.loads, found.sdk ?? '', ...cells, refused];
}

function endsOf(calls: readonly (readonly [string, string])[], words: readonly string[]): string[] {
  return calls.flatMap(([name, end]) => (words.some((word) => name.startsWith(word)) ? [end] : []));
}

function isWorking(end: string): boolean {
  return kindOfEnd(end) === 'works';
}

function restOf({ id }: CorpusPlugin, found: Found | undefined): string[][] {
  return Object.entries(found?.calls ?? {})
    .filter(([, end]) => !isWorking(end))
    .map(([name, end]) => [id, name, end.replace(/[\\`*_<>[\]]/g, '\\$&')]);
}
