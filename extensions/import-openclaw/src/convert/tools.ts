import { stringify } from 'yaml';
import { dataOf } from '../data.js';
import type { Node } from '../source/node.js';
import { agentsOf, type Draft } from './draft.js';

type Names = Readonly<Record<string, readonly string[]>>;
const { groups, profiles, claude } =
  dataOf<Readonly<Record<'groups' | 'profiles' | 'claude', Names>>>('tools');

/** The names that an entry of a list stands for: a group, a tool under each of its names, or a pattern with `*`. */
function namesOf(entry: string): readonly string[] {
  const written = entry.trim();
  const name = written
    .toLowerCase()
    .replace(/^bash$/, 'exec')
    .replace(/^apply-patch$/, 'apply_patch');
  const group =
    name === 'group:openclaw' ? Object.values(groups).flat() : groups[name.replace(/^group:/, '')];
  const all = name.startsWith('group:') && group !== undefined ? group : [name];
  const pattern = new RegExp(`^${name.replace(/[^\w*]/g, '\\$&').replaceAll('*', '.*')}$`);
  const tools = name.includes('*') ? Object.keys(claude).filter((tool) => pattern.test(tool)) : all;
  return [written, ...all, ...tools.flatMap((tool) => claude[tool] ?? [])];
}

/** Writes `tools.profile`, `allow` and `deny` as rules: each list restricts what the ones before have left. */
export function convertTools(draft: Draft): void {
  const { root, files, extensions, report } = draft;
  const top = root.get('tools');
  const rules = agentsOf(root).flatMap(({ id, node }) => {
    const own = node.get('tools');
    const of = (key: string): Node => (own.get(key).isThere ? own : top).get(key);
    const profile = of('profile').text() ?? 'full';
    if (profile !== 'full' && profiles[profile] === undefined)
      report.refuse(of('profile').path, 'The profile is not known.');
    const lists = [
      [
        'profile',
        profile === 'full' ? [] : [...(profiles[profile] ?? []), ...of('alsoAllow').texts()],
      ],
      ...[top, own].map((at, index) => [`allow${index}`, at.get('allow').texts()] as const),
      ['deny', [...top.get('deny').texts(), ...own.get('deny').texts()]],
    ] as const;
    for (const entry of [top, own].flatMap((at) => at.get('deny').items())) {
      const [, group] = /^group:(.+)$/i.exec(entry.text()?.trim() ?? '') ?? [];
      if (group !== undefined && group !== 'openclaw' && groups[group.toLowerCase()] === undefined)
        report.refuse(entry.path, 'The group is not known: name its tools.');
    }
    return lists.flatMap(([name, entries]) =>
      entries.length > 0 ? [ruleOf(id, name, entries)] : [],
    );
  });
  if (rules.length === 0) return;
  files.set('policies.yaml', stringify(rules, { lineWidth: 0 }));
  extensions.push({
    path: 'sluice-policies',
    config: { policies: ['./policies.yaml'] },
    required: true,
  });
}

function ruleOf(agentId: string, list: string, entries: readonly string[]) {
  const isDenied = list === 'deny';
  const names = [...new Set(entries.flatMap(namesOf))];
  const globs = names.filter((name) => name.includes('*'));
  const plain = names.filter((name) => !name.includes('*'));
  // a denial holds however a plugin writes the name of its tool; a name of an allow list is exact
  const isListed = isDenied
    ? [...new Set(names.map(patternOf))].map((one) => `re(toolName, ${JSON.stringify(one)})`)
    : [
        `toolName in ${JSON.stringify(plain)}`,
        ...globs.map((name) => `glob(toolName, ${JSON.stringify(name)})`),
      ];
  const condition = isListed.join(' || ');
  const toolName = names[0]?.replaceAll('*', 'x') ?? '';
  return {
    id: `${agentId}-${list}`.replace(/[^\p{L}\p{N}._-]/gu, '_'),
    family: 'agent.tool.calling',
    match: { agentId },
    'deny when': isDenied ? condition : `!(${condition})`,
    text: isDenied ? 'this tool is denied' : 'this tool is not allowed',
    expect: [{ payload: { agentId, toolName, params: {} }, is: isDenied ? 'denied' : 'allowed' }],
  };
}

/** The pattern of a name or of a list's entry with `*`, in any case. */
function patternOf(name: string): string {
  return `(?i)^${name
    .toLowerCase()
    .replace(/[^\w*]/g, '\\$&')
    .replaceAll('*', '.*')}$`;
}
