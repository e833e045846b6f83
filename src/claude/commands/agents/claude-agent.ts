import { cpSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type AgentContext, CommandError, type MakeAgent } from '@sluice/cli';
import { isSluiceError } from 'sluice-kernel';
import { claudeProvider } from '../../agent/claude.js';
import { type ClaudeQuery, loadClaudeSdk } from '../../agent/claude-sdk.js';

/** Makes the agent of the Claude Agent SDK. A naming without a model gets the one that Claude would use. */
export const makeAgent: MakeAgent = async (named, { cwd, logger, plugins }) => {
  const wanted = [...new Set(named.flatMap(({ rest = [] }) => rest))];
  const isDefaultWanted = named.some(({ rest }) => rest === undefined);
  const models = isDefaultWanted ? ['default', ...wanted] : wanted;
  const offered = wanted.length === 0 ? {} : { models };
  const query = await claudeQuery(cwd);
  const skills = claudeSkills(plugins, cwd);
  const sdk = skills.length === 0 ? {} : { sdk: { plugins: skills } };
  return claudeProvider({ query, cwd, logger, ...offered, ...sdk });
};

async function claudeQuery(cwd: string): Promise<ClaudeQuery> {
  try {
    return await loadClaudeSdk(cwd);
  } catch (cause) {
    if (!isSluiceError(cause)) throw cause;
    throw new CommandError('missing-package', cause.message, cause.hint, { cause });
  }
}

/** A plugin of Claude Code, as an option of the SDK. */
interface ClaudePlugin {
  readonly type: 'local';
  readonly path: string;
  readonly skipMcpDiscovery: true;
}

/**
 * Makes a plugin of Claude Code of the skills of each plugin: a copy with nothing else in it. Claude knows a skill as
 * `PLUGIN:SKILL`.
 *
 * @param folder the folder below which each plugin keeps its things.
 */
function claudeSkills(plugins: AgentContext['plugins'], folder: string): readonly ClaudePlugin[] {
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
