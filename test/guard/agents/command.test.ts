import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { commands } from '../../../extensions/guard/src/commands/commands.js';
import { readPolicies } from '../../../extensions/policies/src/index.js';
import { temporaryFolder } from '../../support/temporary-folder.js';

describe('the commands of sluice guard', () => {
  it('say what they do, and leave nothing behind', async () => {
    using folder = temporaryFolder();
    const at = { cwd: folder.path, home: folder.path, env: {} };
    const plan = await commands.init({ ...at, agent: ['codex'], dryRun: true });
    expect(plan.lines).toContain(`would write ${join(folder.path, '.codex/hooks.json')}`);
    const done = await commands.init({ ...at, agent: ['codex'] });
    expect(done.problems).toEqual([]);
    expect(done.lines.at(-1)).toMatch(/^Next: run `sluice guard run`, and ask an agent/);
    const doctor = await commands.doctor(at);
    expect(doctor.problems).toEqual(['the guard does not answer: start it by `sluice guard run`']);
    expect(doctor.lines).toContain('codex    agent.tool.calling    enforced');
    await commands.remove(at);
    expect(existsSync(join(folder.path, '.sluice'))).toBe(false);
    const { problems } = await commands.init(at);
    expect(problems.join()).toContain('no agent is found here');
  });

  it('write policies whose examples are met', async () => {
    using folder = temporaryFolder();
    await commands.init({ cwd: folder.path, home: folder.path, env: {}, agent: ['codex'] });
    const { rules, unmet } = await readPolicies([join(folder.path, '.sluice/policies.yaml')]);
    expect(rules.map(({ id }) => id)).toEqual(['no-rm-rf', 'ask-push']);
    expect(unmet).toEqual([]);
  });
});
