import { cpSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { LegacyPlugin } from '../../legacy/index.js';

/** A plugin of Claude Code, as an option of the SDK. */
interface ClaudePlugin {
  readonly type: 'local';
  readonly path: string;
  readonly skipMcpDiscovery: true;
}

/**
 * Makes a plugin of Claude Code of the skills of each OpenClaw plugin: a copy with nothing else in it. Claude knows a skill as
 * `PLUGIN:SKILL`.
 *
 * @param folder the folder below which each plugin keeps its things.
 */
export function claudeSkills(
  plugins: readonly Pick<LegacyPlugin, 'pluginId' | 'skills'>[],
  folder: string,
): readonly ClaudePlugin[] {
  return plugins.flatMap(({ pluginId, skills }) => {
    if (skills.length === 0) return [];
    const name = pluginId.toLowerCase().replace(/[^a-z0-9]+/g, '-');
    const path = join(folder, '.sluice', name, 'claude-skills');
    rmSync(path, { recursive: true, force: true }); // a skill of an older version goes
    mkdirSync(join(path, '.claude-plugin'), { recursive: true });
    writeFileSync(join(path, '.claude-plugin', 'plugin.json'), JSON.stringify({ name }));
    for (const skill of skills)
      cpSync(skill.path, join(path, 'skills', skill.name), { recursive: true });
    return [{ type: 'local', path, skipMcpDiscovery: true }];
  });
}
