import { describe, expect, it } from 'vitest';
import { memoryJournal, memoryStore } from '../../../src/journal/index.js';
import { virtualClock } from '../../../src/testing/index.js';
import { failingJournal, type JournalFault } from '../../support/failing-journal.js';
import { hostLab } from '../../support/host-lab.js';
import { scriptedChannel } from '../../support/scripted-channel.js';
import { sharedJournal } from '../../support/shared-journal.js';

const message = { channel: 'scripted', accountId: 'default', to: 'ada', content: 'Tea!' };

/** Each single call of the journal that a send makes, that fails for a while, made or not. */
const faults = [1, 2, 3, 4, 5].flatMap((from) =>
  (['call', 'kind', 'all'] as const).flatMap((of) =>
    [true, false].map((isMade): [JournalFault] => [
      { from, of, isMade, ms: 3_000, code: 'database-io' },
    ]),
  ),
);

describe('a send that answers no message', () => {
  it.each(faults)(
    'goes out once, and is told as sent, whichever call of the journal fails: %o (durability §6.2)',
    async (fault) => {
      const clock = virtualClock();
      const memory = memoryJournal({ clock });
      const { journal, store, begin } = failingJournal(memory, memoryStore(), clock, fault);
      await using lab = await hostLab({ clock, journal, store });
      await clock.advance(0); // the start has looked at what is kept for later
      begin();
      const ended = lab.host.send(message);
      await clock.advance(10_000);
      expect(await ended).toMatchObject({ status: 'sent' });
      expect(lab.texts()).toEqual(['Tea!']);
      await clock.advance(10_000);
      expect(await memory.sends()).toMatchObject([{ state: 'sent' }]);
    },
  );

  it.each(faults)(
    'goes out once if another host is to make it, whichever call of the journal fails there: %o (durability §12.6)',
    async (fault) => {
      const clock = virtualClock();
      const shared = sharedJournal(clock);
      shared.give('b', shared.all);
      const made = failingJournal(shared.of('b'), memoryStore(), clock, fault);
      const common = () => ({ clock, channel: scriptedChannel() });
      await using a = await hostLab({ ...common(), journal: shared.of('a'), store: made.store });
      await using b = await hostLab({ ...common(), journal: made.journal, store: made.store });
      const ended = a.host.send(message);
      made.begin();
      await clock.advance(20_000);
      expect(await ended).toMatchObject({ status: 'sent' });
      expect([a.texts(), b.texts()]).toEqual([[], ['Tea!']]);
      await clock.advance(10_000);
      expect(await shared.of('a').sends()).toMatchObject([{ state: 'sent' }]);
    },
  );

  it('that its caller waits for no longer is not made, and its row does not stay open (durability §6.2)', async () => {
    const clock = virtualClock();
    const memory = memoryJournal({ clock });
    const stop = new AbortController();
    const fault = { from: 1, of: 'kind', isMade: true, ms: 3_000, code: 'database-io' } as const;
    const { journal, store, begin } = failingJournal(memory, memoryStore(), clock, fault);
    await using lab = await hostLab({ clock, journal, store });
    await clock.advance(0); // the start has looked at what is kept for later
    begin();
    const ended = lab.host.send({ ...message, signal: stop.signal });
    await clock.advance(1_000);
    stop.abort();
    expect(await ended).toMatchObject({ status: 'failed' });
    await clock.advance(10_000);
    expect(lab.texts()).toEqual([]);
    expect(await memory.sends()).toMatchObject([{ state: 'failed' }]);
  });
});
