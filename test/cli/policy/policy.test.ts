import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { testFolder } from '../../support/folder.js';
import { runInMemory } from '../memory-shell.js';

const rule = `
- id: no-bye
  family: egress.preparing
  deny when: "content.contains('bye')"
  expect:
    - { payload: { content: bye }, is: denied }
    - { payload: { content: hello }, is: allowed }
`;

function file(text: string): string {
  const path = join(testFolder(), 'policies.yaml');
  writeFileSync(path, text);
  return path;
}

describe('sluice policy', () => {
  it('test checks the rules and their examples (judgement §5.3)', async () => {
    const { code, stdout, stderr } = await runInMemory(['policy', 'test', file(rule)]);
    expect([code, stdout, stderr]).toEqual([0, '1 rule checked, and 2 examples met\n', '']);
  });

  it('test names each problem with its line, and fails', async () => {
    const path = file(rule.replace('content.contains', 'contents.contains'));
    const { code, stdout, stderr } = await runInMemory(['policy', 'test', path]);
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toBe(
      `${path}:2: no-bye: deny when: egress.preparing has no field "contents" (at character 1); did you mean "content"?\n`,
    );
  });

  it('test names the rules that act in no example, and fails on them if it is to be complete', async () => {
    const path = file(rule.replace(/.*is: denied.*\n/, ''));
    const told = 'no-bye acts in none of its examples\n1 rule checked, and 1 example met\n';
    const plain = await runInMemory(['policy', 'test', path]);
    expect([plain.code, plain.stdout]).toEqual([0, told]);
    const complete = await runInMemory(['policy', 'test', path, '--complete']);
    expect([complete.code, complete.stdout]).toEqual([1, told]);
    expect((await runInMemory(['policy', 'test', file(rule), '--complete'])).code).toBe(0);
    const { stdout } = await runInMemory(['policy', 'test', path, '--json']);
    expect(JSON.parse(stdout)).toMatchObject({ id: 'no-bye', isMet: false });
  });

  it('refuses another action', async () => {
    const { code, stderr } = await runInMemory(['policy', 'check', file(rule)]);
    expect(code).toBe(2);
    expect(stderr).toContain('there is no action "check"');
  });
});
