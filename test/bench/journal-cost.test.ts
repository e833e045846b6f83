import { utimesSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { echoProvider } from '../../src/agent/index.js';
import { keepTimeline, timelineRecorder } from '../../src/host/index.js';
import { openJournal, openSqlite } from '../../src/journal/index.js';
import { virtualClock } from '../../src/testing/index.js';
import { fileCalls } from '../support/file-calls.js';
import { testFolder } from '../support/folder.js';
import { type HostLab, type HostLabOptions, hostLab } from '../support/host-lab.js';
import { logWrites } from '../support/log-writes.js';
import { speaker } from '../support/speaker.js';

const alone = 40;

interface JournalLab extends AsyncDisposable {
  readonly lab: HostLab;
  /** The writes to the disk since the last call, when all that waits is written. */
  writes(): Promise<{ syncs: number; bytes: number }>;
}

async function journalLab(options: HostLabOptions = {}): Promise<JournalLab> {
  const path = join(testFolder(), 'sluice.db');
  const clock = virtualClock(); // nothing that waits for a time is written before
  const journal = await openJournal(path, { clock });
  const agents = [{ id: 'main', provider: speaker }];
  const { journal: settings, ...rest } = options;
  const timeline = timelineRecorder({ clock }); // the kernel of the lab is given: nobody else records its dispatches
  if (settings?.dispatches !== false) timeline.listen(keepTimeline(journal));
  const lab = await hostLab({
    ...{ clock, store: journal.store, agents, timeline },
    journal: { opened: journal, ...settings },
    ...rest,
  });
  const bytesUsed = (): number => {
    using database = openSqlite(path, { readonly: true });
    const one = (sql: string) => Number(Object.values(database.prepare(sql).get() ?? {})[0]);
    return (one('PRAGMA page_count') - one('PRAGMA freelist_count')) * 4_096;
  };
  utimesSync(dirname(path), 0, 0); // nothing has changed in the folder for long
  let last = { syncs: 0, bytes: 0 };
  const writes: JournalLab['writes'] = async () => {
    await journal.dispatches({ limit: 1 });
    const { syncs } = logWrites(path);
    const now = { syncs, bytes: bytesUsed() };
    const since = { syncs: now.syncs - last.syncs, bytes: now.bytes - last.bytes };
    last = now;
    return since;
  };
  await lab.say('the first message of this session');
  await writes();
  return {
    lab,
    writes,
    [Symbol.asyncDispose]: async () => {
      await lab[Symbol.asyncDispose]();
      await journal.close();
    },
  };
}

describe('a message in a journal', () => {
  const agents = [{ id: 'main', provider: echoProvider() }];
  const contribute: HostLabOptions['contribute'] = (kernel) =>
    kernel.contribute({
      family: 'egress.sent',
      class: 'observer',
      extensionId: 'e',
      id: 'o',
      handler: () => undefined,
    });
  it.each([
    ['that is answered', 3, {}],
    ['of which a handler hears that the answer was sent', 4, { contribute }],
    ['whose agent calls a tool', 4, { agents }],
  ] as const)(
    '%s costs %i syncs if it comes alone (durability §6.10)',
    async (_, syncs, options) => {
      await using one = await journalLab({ journal: { dispatches: false }, ...options });
      for (let at = 0; at < alone; at++) {
        await one.lab.say(`message ${at}`);
        await new Promise((resolve) => setImmediate(resolve)); // its lane is free
      }
      expect((await one.writes()).syncs).toBe(syncs * alone);
    },
  );

  it.each([
    ['that is answered', 16, 3, {}],
    ['of which a handler hears that the answer was sent', 19, 4, { contribute }],
    ['whose agent calls a tool', 21, 4, { agents }],
  ] as const)(
    '%s costs %i statements on the database, and %i looks at its files (durability §1.6, durability §1.9)',
    async (_, statements, stats, options) => {
      await using one = await journalLab({ journal: { dispatches: false }, ...options });
      await one.lab.say('its transcript is read');
      await one.writes();
      using calls = fileCalls();
      for (let at = 0; at < alone; at++) {
        await one.lab.say(`message ${at}`);
        await new Promise((resolve) => setImmediate(resolve));
      }
      expect(calls.counts()).toEqual({ statements: statements * alone, stats: stats * alone });
    },
  );

  it.each([
    ['that is answered', 17, {}],
    ['whose agent calls a tool', 22, { agents }],
  ] as const)(
    '%s costs %i statements with its dispatches, which are one row, and no sync more while others follow (durability §4.3, durability §4.7)',
    async (_, statements, options) => {
      await using one = await journalLab(options);
      const { clock } = one.lab;
      await one.lab.say('its transcript is read');
      await one.writes();
      const say = async (text: string) => {
        await one.lab.say(text);
        await new Promise((resolve) => setImmediate(resolve));
        await clock.advance(60);
      };
      await say('its dispatches go along with the next message');
      using calls = fileCalls();
      const messages = 12; // in less than a second: each second the host looks at its journal
      for (let at = 0; at < messages; at++) await say(`message ${at}`);
      expect(calls.counts().statements).toBe(statements * messages);
    },
  );

  it.each([
    ['that is answered', 15, 6, {}],
    ['whose agent calls a tool', 30, 9, { agents }],
  ] as const)(
    '%s, with %i dispatches and more, takes at most %i KiB of the file (durability §4.7)',
    async (_, dispatches, most, options) => {
      await using one = await journalLab(options);
      for (let at = 0; at < alone; at++) {
        await one.lab.say(`message ${at} of a usual length, a line of text`);
        await new Promise((resolve) => setImmediate(resolve));
      }
      const { bytes } = await one.writes();
      expect(one.lab.outcomes.length).toBeGreaterThan(dispatches * alone);
      expect(bytes / alone / 1_024).toBeLessThan(most);
    },
  );
});
