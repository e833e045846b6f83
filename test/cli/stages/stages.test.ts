import { describe, expect, it } from 'vitest';
import { canonicalStages } from '../../../src/kernel/internal.js';
import { fixture, jsonLines, runCli } from '../cli.js';

interface StageLine {
  readonly family: string;
  readonly observeOnly: boolean;
  readonly handlers: readonly { readonly extensionId: string }[];
}

describe('sluice stages', () => {
  it('shows every stage with the handlers that are loaded', async () => {
    const { code, stdout } = await runCli(['stages', '--extension', fixture('shout.ts')]);
    expect(code).toBe(0);
    for (const { family } of canonicalStages) expect(stdout).toContain(`\n${family} `);
    expect(stdout).toMatch(/^egress\.preparing (?:.*\n){3} {2}shout\/capitals, mutator$/m);
  });

  it('tells of an override that names no handler, and the nearest that is loaded (§12.1)', async () => {
    const args = ['stages', '-e', fixture('shout.ts'), '-c', fixture('lost-override.config.json')];
    const { code, stderr } = await runCli(args);
    expect(code).toBe(1);
    expect(stderr).toMatch(/^sluice: bad-config: override "shout\/nope" names no handler/m);
  });

  it('prints one value per stage with --json', async () => {
    const { stdout } = await runCli(['stages', '--json', '-c', fixture('good.config.json')]);
    const stages = jsonLines<StageLine>(stdout);
    expect(stages.map(({ family }) => family)).toEqual(canonicalStages.map(({ family }) => family));
    const egress = stages.find(({ family }) => family === 'egress.preparing');
    expect(egress).toMatchObject({
      emittedBy: 'host',
      emittedWhen: expect.stringMatching(/^before every send/),
      handlers: [{ extensionId: 'shout', contributionId: 'capitals' }],
    });
    expect(stdout).not.toMatch(/src\/|\.ts\b/);
  });

  it('marks what an agent of recordings only tells of', async () => {
    const agent = ['--agent', `replay:${fixture('recording.jsonl')}`];
    const { stdout } = await runCli(['stages', '--json', ...agent]);
    const marked = jsonLines<StageLine>(stdout).filter(({ observeOnly }) => observeOnly);
    expect(marked.map(({ family }) => family)).toEqual(['agent.tool.calling']);
  });

  it('shows the rest where an extension is broken, and fails', async () => {
    const { code, stdout, stderr } = await runCli(['stages', '-e', fixture('broken.ts')]);
    expect(code).toBe(1);
    expect(stdout).toContain('egress.preparing');
    expect(stderr).toMatch(/^sluice: module-failed: .*broken\.ts.*\n$/);
  });
});
