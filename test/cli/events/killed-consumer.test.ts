import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect, it } from 'vitest';
import type { TimelineCloudEvent } from '../../../src/host/index.js';
import { openJournal } from '../../../src/journal/index.js';
import { cliProgram } from '../../support/compiled.js';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { jsonLines } from '../cli.js';
import { runInMemory } from '../memory-shell.js';

const records = 450;

it('a consumer that is killed gets each event at least once, and at most 100 of them again (sight §3.3)', async () => {
  using folder = temporaryFolder();
  const journal = await openJournal(join(folder.path, 'sluice.db'));
  const about = { correlationId: 'u-1', sessionId: null, status: 'passed', body: '{}' } as const;
  for (let at = 0; at < records; at++)
    journal.dispatched({
      ...{ ...about, eventId: `e-${at}`, family: 'egress.sent', occurredAtMs: Date.now() },
      body: JSON.stringify({
        status: 'passed',
        event: { family: 'egress.sent', eventId: `e-${at}`, payload: {} },
      }),
    });
  await journal.close();
  const args = ['events', '--journal', 'sluice.db', '--consumer', 'billing'];
  const child = spawn(process.execPath, [cliProgram, ...args, '--follow'], {
    cwd: folder.path,
    env: { PATH: process.env['PATH'] ?? '', HOME: folder.path },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exit = once(child, 'exit');
  const first: string[] = [];
  for await (const line of createInterface({ input: child.stdout })) {
    first.push((JSON.parse(line) as TimelineCloudEvent).sequence);
    if (first.length === 250) child.kill('SIGKILL');
  }
  expect((await exit)[1]).toBe('SIGKILL');
  const { stdout } = await runInMemory(args, '', { cwd: folder.path });
  const later = (stdout === '' ? [] : jsonLines<TimelineCloudEvent>(stdout)).map(
    ({ sequence }) => sequence,
  );
  const again = later.filter((one) => first.includes(one));
  expect(again.length).toBeLessThanOrEqual(100);
  expect(new Set([...first, ...later]).size).toBe(records);
});
