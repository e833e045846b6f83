import { join } from 'node:path';
import { CloudEvent } from 'cloudevents';
import { beforeAll, describe, expect, it } from 'vitest';
import {
  keepTimeline,
  readTimeline,
  type TimelineCloudEvent,
  timelineRecorder,
} from '../../../src/host/index.js';
import { openJournal } from '../../../src/journal/index.js';
import { startTestHost, virtualClock } from '../../../src/testing/index.js';
import { type TemporaryFolder, temporaryFolder } from '../../support/temporary-folder.js';
import { jsonLines } from '../cli.js';
import { runInMemory } from '../memory-shell.js';

describe('sluice events', () => {
  let folder: TemporaryFolder;
  let kept = 0;

  beforeAll(async () => {
    folder = temporaryFolder();
    const journal = await openJournal(join(folder.path, 'sluice.db'));
    const timeline = timelineRecorder();
    timeline.listen(keepTimeline(journal));
    const clock = virtualClock(Date.now()); // a file drops what is old
    const test = await startTestHost({
      journal: { opened: journal, closes: false },
      timeline,
      clock,
    });
    await test.say('hello');
    await test.say('again');
    await test[Symbol.asyncDispose]();
    await journal.close();
    const again = await openJournal(join(folder.path, 'sluice.db'));
    kept = (await readTimeline(again)).length;
    await again.close();
  });
  const events = async (...args: readonly string[]) => {
    const ended = await runInMemory(['events', '--journal', 'sluice.db', ...args], '', {
      cwd: folder.path,
    });
    return {
      ...ended,
      lines: (ended.stdout === '' ? [] : jsonLines(ended.stdout)) as TimelineCloudEvent[],
    };
  };

  it('prints each record of a file as a CloudEvent that `cloudevents` takes (sight §4.1, sight §4.2)', async () => {
    const { code, lines } = await events();
    expect(code).toBe(0);
    expect(lines).toHaveLength(kept);
    for (const line of lines) expect(new CloudEvent({ ...line }).validate()).toBe(true);
    const types = lines.map(({ type }) => type);
    for (const type of [
      'sluice.update.accepted',
      'sluice.ingress.received',
      'sluice.attempt',
      'sluice.send.sent',
      'sluice.update.ended',
    ])
      expect(types.filter((one) => one === type)).toHaveLength(2);
  });

  it('prints the kinds that are asked for, and goes on after a sequence (sight §3.2)', async () => {
    const { lines } = await events('--kind', 'send');
    expect(lines.map(({ type }) => type)).toEqual([
      ...['sluice.send.sending', 'sluice.send.sent'],
      ...['sluice.send.sending', 'sluice.send.sent'],
    ]);
    const { lines: later } = await events('--kind', 'send', '--from', String(lines[1]?.sequence));
    expect(later).toEqual(lines.slice(2));
    expect((await events('--from', 'now')).lines).toEqual([]);
  });

  it('goes on where a consumer was, also in another process (sight §3.3)', async () => {
    expect((await events('--consumer', 'billing')).lines).toHaveLength(kept);
    expect((await events('--consumer', 'billing')).lines).toEqual([]);
  });

  it('refuses a wrong sequence, a wrong kind and two beginnings, with exit code 2', async () => {
    for (const args of [
      ['--from', 'tomorrow'],
      ['--kind', 'sends'],
      ['--consumer', 'a', '--from', '1'],
    ]) {
      const { code, stderr } = await events(...args);
      expect([code, stderr.split('\n').length]).toEqual([2, 2]);
    }
  });
});
