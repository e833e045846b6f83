import { describe, expect, it } from 'vitest';
import { runInMemory } from '../memory-shell.js';

describe('an action of a command', () => {
  it.each([
    ['journal', 'list', '--state', '--all'],
    ['journal', 'purge', '--all', '--state'],
    ['approvals', 'approve', '--always', '--since'],
    ['policy', 'try', '--since', '--always'],
  ])('of %s: the help of %s lists %s, and not %s', async (command, action, own, other) => {
    const { code, stdout } = await runInMemory([command, action, '--help']);
    expect(code).toBe(0);
    expect(stdout).toContain(`Usage: sluice ${command} ${action}`);
    for (const flag of [own, '--journal', '--json']) expect(stdout).toContain(flag);
    expect(stdout).not.toContain(other);
  });

  it.each([
    [['journal', '--journal', './none.db', '--state', 'dead', 'list']],
    [['journal', 'list', '--state', 'dead', '--journal', './none.db']],
  ])('takes its options before and behind its name: %j', async (args) => {
    const { code, stderr } = await runInMemory(args);
    expect([code, stderr]).toEqual([2, expect.stringContaining('there is no journal "')]);
  });

  it.each([
    [['journal', 'show', 'u-1', '--state', 'dead'], 'show takes no --state'],
    [['journal', '--all', 'list'], 'list takes no --all'],
    [['policy', 'test', 'p.yaml', '--since', '7d'], 'test takes no --since'],
  ])('refuses an option of another one: %j', async (args, what) => {
    const { code, stdout, stderr } = await runInMemory(args);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toMatch(new RegExp(`^sluice: bad-arguments: ${what}\\. See .*--help\`\\.\n$`));
  });
});
