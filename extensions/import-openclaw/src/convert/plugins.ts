import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, join, relative } from 'node:path';
import { isRecord, type Node } from '../source/node.js';
import { readState } from '../state/paired.js';
import { hookOf, partsOf } from '../state/parts.js';
import { workspaceOf } from '../state/prompts.js';
import { agentsOf, type Draft, placeOf } from './draft.js';

/** Converts the plugins of the config, and makes a plugin of hook directories and skills. */
export function convertPlugins(draft: Draft): void {
  const { root, plugins, report, config } = draft;
  const node = root.get('plugins');
  const shown: Record<string, unknown> = {};
  const found =
    node.get('enabled').flag() === false ? new Map<string, Found>() : pluginFolders(draft);
  const allowed = node.get('allow').isThere ? node.get('allow').texts() : [...found.keys()];
  const denied = [root, ...agentsOf(root).map((one) => one.node)].flatMap((at) =>
    at.get('tools', 'deny').items(),
  );
  for (const [id, { folder, channels }] of found) {
    const entry = node.get('entries', id);
    const isDenied = node.get('deny').texts().includes(id) || !allowed.includes(id);
    if (isDenied || entry.get('enabled').flag() === false) continue;
    for (const tool of denied.filter((one) => one.text()?.toLowerCase() === id.toLowerCase()))
      report.refuse(tool.path, 'A plugin is denied by the names of its tools, or by plugins.deny.');
    const settings = entry.get('config').verbatim();
    plugins.push({ path: folder, ...(isRecord(settings) && { config: settings }) });
    for (const channel of channels.filter((one) => one !== 'telegram' && one !== 'slack')) {
      const section = root.get('channels', channel);
      if (!section.isThere) continue;
      shown[channel] = section.verbatim();
      report.note(section.path, 'converted', `The plugin ${id} is shown it.`);
    }
  }
  for (const [id, entry] of node.get('entries').entries())
    if (!found.has(id))
      report.note(
        entry.path,
        'not supported',
        'Its folder is not known: `sluice plugin add` takes a folder or a package.',
      );
  const hooks = carryParts(draft);
  const openclaw = {
    ...(Object.keys(shown).length > 0 && { channels: shown }),
    ...(hooks > 0 && { hooks: { internal: { enabled: true } } }),
  };
  if (Object.keys(openclaw).length > 0) config['openclaw'] = openclaw;
}

interface Found {
  readonly folder: string;
  readonly channels: readonly string[];
}

/** The plugins that the config names, or that are installed, by the ids of their manifests. The first one counts. */
function pluginFolders(draft: Draft): ReadonlyMap<string, Found> {
  const { root, folder } = draft;
  const node = root.get('plugins');
  const installed = node
    .get('installs')
    .entries()
    .flatMap(([, one]) => one.get('installPath').text() ?? []);
  const named = [...node.get('load', 'paths').texts(), ...installed].map((path) =>
    placeOf(draft, path),
  );
  const found = new Map<string, Found>();
  for (const at of [...named, ...foldersIn(join(folder, 'extensions'))]) {
    const manifest = readState(draft, relative(folder, join(at, 'openclaw.plugin.json')));
    const { id, channels } = isRecord(manifest) ? manifest : {};
    if (typeof id === 'string' && !found.has(id))
      found.set(id, { folder: at, channels: Array.isArray(channels) ? channels.map(String) : [] });
  }
  return found;
}

function foldersIn(folder: string): readonly string[] {
  const entries = existsSync(folder) ? readdirSync(folder, { withFileTypes: true }) : [];
  return entries
    .filter((one) => one.isDirectory())
    .map(({ name }) => join(folder, name))
    .sort();
}

/**
 * Copies the directories with a HOOK.md, and the skills, and makes a plugin of them.
 *
 * @returns how many hooks it has.
 */
function carryParts(draft: Draft): number {
  const { root, folder, files, plugins, moved } = draft;
  const spaces = agentsOf(root).map(({ id, node }) => workspaceOf(draft, node, id));
  const copied = (kind: string, mark: string, switches: Node): readonly string[] => {
    const all = [...new Set([folder, ...spaces])].flatMap((at) => foldersIn(join(at, kind)));
    const byName = new Map(
      all
        .filter((at) => existsSync(join(at, mark)))
        .reverse()
        .map((at) => [basename(at), at]),
    );
    return [...byName].reverse().flatMap(([name, at]) => {
      const isOff = switches.get(name, 'enabled').flag() === false;
      const to = join('openclaw-parts', kind, name);
      moved.set(
        relative(folder, at),
        isOff ? 'It is switched off, and not copied.' : `Copied to ${to}, without hidden files.`,
      );
      if (isOff) return [];
      for (const file of readdirSync(at, { withFileTypes: true, recursive: true })) {
        const path = relative(at, join(file.parentPath, file.name));
        const isHidden = /(^|[/\\])\./.test(path); // `.env` and `.git` have secrets
        if (file.isFile() && !isHidden) files.set(join(to, path), readFileSync(join(at, path)));
      }
      return [at];
    });
  };
  const internal = root.get('hooks', 'internal');
  const folders =
    internal.get('enabled').flag() === true
      ? copied('hooks', 'HOOK.md', internal.get('entries'))
      : [];
  const hooks = folders.flatMap((at) => hookOf(draft, at) ?? []);
  const skills = copied('skills', 'SKILL.md', root.get('skills', 'entries')).map((at) =>
    basename(at),
  );
  if (hooks.length + skills.length === 0) return 0;
  for (const [file, text] of Object.entries(partsOf(hooks, skills)))
    files.set(join('openclaw-parts', file), text);
  plugins.push({ path: './openclaw-parts' });
  return hooks.length;
}
