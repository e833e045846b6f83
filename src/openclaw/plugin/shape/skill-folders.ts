import { existsSync, readdirSync, realpathSync } from 'node:fs';
import { basename, join, resolve, sep } from 'node:path';
import type { LegacySkill } from './shapes.js';

/**
 * Finds the skills that a manifest names: each entry is a folder of a skill, or a folder of such folders.
 *
 * @param warn is told of an entry without a skill, and of one outside of the plugin's folder, which is left out.
 */
export function skillsIn(
  folder: string,
  entries: readonly string[],
  warn: (problem: string) => void,
): readonly LegacySkill[] {
  return entries.flatMap((entry) => {
    const path = resolve(folder, entry);
    if (!existsSync(path) || !realpathSync(path).startsWith(realpathSync(folder) + sep)) {
      warn(`skills "${entry}" is left out: there is no such folder in the plugin`);
      return [];
    }
    const inside = readdirSync(path).map((name) => join(path, name));
    const found = [path, ...inside].filter((one) => existsSync(join(one, 'SKILL.md')));
    if (found.length === 0) warn(`skills "${entry}" is left out: it holds no SKILL.md`);
    return found.map((one) => ({ name: basename(one), path: one }));
  });
}
