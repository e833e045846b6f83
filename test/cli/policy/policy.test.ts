import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { dispatchTap } from '../../../src/host/timeline/dispatch-tap.js';
import { openJournal } from '../../../src/journal/index.js';
import { allow, cancel, createKernel } from '../../../src/kernel/internal.js';
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

  describe('try', () => {
    const deletion = `
- id: no-deletion
  family: agent.tool.calling
  match: { toolName: shell }
  deny when: "runs(params.command, 'rm -rf *')"
  text: nothing is deleted so
  expect: [{ payload: { toolName: shell, params: { command: rm -rf / } }, is: denied }]
`;

    /** A journal with calls, of which the second was cancelled. */
    async function journalOf(...commands: readonly string[]) {
      const path = join(testFolder(), 'sluice.db');
      const journal = await openJournal(path);
      const kernel = createKernel({ tap: dispatchTap(journal) });
      kernel.contribute({
        ...{ extensionId: 'guard', id: 'second', family: 'agent.tool.calling', class: 'veto' },
        handler: ({ payload }) =>
          payload.params['command'] === commands[1] ? cancel('policy') : allow(),
      });
      const ids: string[] = [];
      for (const command of commands) {
        const call = { toolName: 'shell', toolCallId: 'c', params: { command } };
        ids.push((await kernel.dispatch('agent.tool.calling', call)).event.eventId);
      }
      await new Promise((resolve) => setImmediate(resolve));
      await journal.close();
      return { path, ids };
    }

    it('counts what the rules would have changed of kept calls, with examples', async () => {
      const { path, ids } = await journalOf("r''m -fr /", 'rm -rf .', 'ls', '$x -rf /');
      const args = ['policy', 'try', file(deletion), '--journal', path];
      const { stdout, stderr } = await runInMemory([...args, '--since', '7d']);
      expect(stderr).toBe('');
      const [head, ...samples] = stdout.trim().split('\n');
      expect(head).toBe(
        'no-deletion: 4 dispatches of agent.tool.calling: 2 denied, 0 asked, 1 failed; 2 of them had passed',
      );
      expect(samples.join(' ')).toMatch(
        new RegExp(`denied ${ids[0]}: nothing.* denied ${ids[1]}.* failed ${ids[3]}: .*not known`),
      );
      const { stdout: json } = await runInMemory([...args, '--json']);
      expect(JSON.parse(json)).toMatchObject({ tried: 4, denied: 2, failed: 1, changed: 2 });
    });

    it('says what each rule says of one event', async () => {
      const { path, ids } = await journalOf('rm -rf /', 'ls', 'ls -l');
      const args = ['policy', 'try', file(deletion), '--journal', path, '--event'];
      const { stdout } = await runInMemory([...args, ids[2] ?? '']);
      expect(stdout).toContain('no-deletion: 1 dispatch of agent.tool.calling: 0 denied');
      expect(stdout).toContain(`allowed ${ids[2]}`);
      expect((await runInMemory([...args, ids[0] ?? ''])).stdout).toContain(`denied ${ids[0]}`);
      const unknown = await runInMemory([...args, 'none']);
      expect(unknown.code).toBe(1);
      expect(unknown.stderr).toContain('the journal has no dispatch of "none"');
    });
  });

  it('refuses another action', async () => {
    const { code, stderr } = await runInMemory(['policy', 'check', file(rule)]);
    expect(code).toBe(2);
    expect(stderr).toContain('there is no action "check"');
  });
});
