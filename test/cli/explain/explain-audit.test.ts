import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { keepTimeline, timelineRecorder } from '../../../src/host/index.js';
import { dispatchTap } from '../../../src/host/timeline/dispatch-tap.js';
import { openJournal } from '../../../src/journal/index.js';
import { cancel, createKernel } from '../../../src/kernel/internal.js';
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

describe('sluice explain of a message that has no dispatch yet', () => {
  it('tells what is known of it (sight §1.2)', async () => {
    using folder = temporaryFolder({});
    const journal = await openJournal(join(folder.path, 'sluice.db'));
    const timeline = timelineRecorder();
    timeline.listen(keepTimeline(journal));
    timeline.record(() => ({ kind: 'update', id: 'u-1', correlationId: 'u-1', state: 'accepted' }));
    await journal.close();
    const explained = (id: string) =>
      runInMemory(['explain', id, '--way', '--journal', 'sluice.db'], '', { cwd: folder.path });
    expect(await explained('u-1')).toMatchObject({ code: 0, stdout: 'message accepted\n' });
    expect(await explained('u-2')).toMatchObject({ code: 1 });
  });
});
