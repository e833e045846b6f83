import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { dispatchTap, openJournal } from '../../../src/host/index.js';
import { cancel, createKernel } from '../../../src/kernel/index.js';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { jsonLines } from '../cli.js';
import { runInMemory } from '../memory-shell.js';

describe('sluice explain of a dispatch with audited handlers', () => {
  it('says what they would have done, also if that is known after the outcome (judgement §3.6)', async () => {
    using folder = temporaryFolder({});
    const journal = await openJournal(join(folder.path, 'sluice.db'));
    const overrides = { 'acme/no': { mode: 'audit' }, 'acme/later': { mode: 'audit' } } as const;
    const kernel = createKernel({ tap: dispatchTap(journal), overrides });
    const at = { extensionId: 'acme', family: 'agent.tool.calling' } as const;
    kernel.contribute({
      ...at,
      class: 'veto',
      id: 'no',
      handler: () => cancel('policy', { text: 'not at night' }),
    });
    kernel.contribute({
      ...at,
      class: 'mutator',
      id: 'later',
      handler: async () => ({ params: { token: 'x' } }),
    });
    const outcome = await kernel.dispatch(at.family, { toolName: 'Bash', params: {} });
    expect(outcome.status).toBe('passed');
    await new Promise((resolve) => setImmediate(resolve));
    await journal.close();
    const explained = (args: readonly string[]) =>
      runInMemory(['explain', outcome.event.eventId, '--journal', 'sluice.db', ...args], '', {
        cwd: folder.path,
      });
    const { code, stdout } = await explained([]);
    expect(code).toBe(0);
    const text = stdout.replace(/\s+/g, ' ');
    expect(text).toContain('agent.tool.calling passed');
    expect(text).toContain(
      'acme/no, in audit mode, would have cancelled it: policy, "not at night"',
    );
    expect(text).toMatch(
      /acme\/later, in audit mode, would have changed params\.token \(digest [0-9a-f]{16}\)/,
    );
    const [line] = jsonLines<{ audits: { verdict: string }[] }>(
      (await explained(['--json'])).stdout,
    );
    expect(line?.audits.map(({ verdict }) => verdict)).toEqual(['cancel', 'patch']);
  });
});
