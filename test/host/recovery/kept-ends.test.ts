import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { journalError } from '../../../src/journal/errors.js';
import { memoryJournal, openJournal, tendJournal } from '../../../src/journal/index.js';
import type { SendResult } from '../../../src/sdk/channel/index.js';
import { fenceOf } from '../../support/fences.js';
import { testFolder } from '../../support/folder.js';
import { hostLab } from '../../support/host-lab.js';
import { mortalJournal } from '../../support/mortal-journal.js';
import { scriptedChannel } from '../../support/scripted-channel.js';

const full = new Error('the disk is full');

describe('the end of a send that went out', () => {
  it.each([
    ['a zero character', 'id\0'],
    ['half a surrogate pair', 'id\ud800'],
  ])(
    'is persisted without its id if that holds %s, and a retry is claimed (durability §6.7, durability §7.6)',
    async (_, messageId) => {
      const path = join(testFolder(), 'sluice.db');
      const journal = await openJournal(path);
      const sent = (id: string): SendResult => ({ status: 'sent', receipt: { messageId: id } });
      const channel = scriptedChannel({
        send: async (permit) => sent(permit.take().content === 'a' ? messageId : 'ok'),
      });
      await using lab = await hostLab({ journal, store: journal.store, channel });
      const untilEnded = (count: number) =>
        vi.waitFor(async () => {
          await lab.clock.advance(1_000);
          expect(lab.ends).toHaveLength(count);
        }, 60_000);
      await channel.receive({ text: 'a', conversation: 'one' }, 'a');
      await untilEnded(1);
      const [send] = await journal.sends();
      expect(send).toMatchObject({ state: 'sent' });
      expect(send).not.toHaveProperty('providerMessageId');
      const about = { channel: 'scripted', accountId: 'default', receivedAtMs: 0 };
      const body = JSON.stringify({ text: 'retried', conversation: 'two' });
      await journal.accept({ eventId: 'dead-1', ...about, updateId: 'd', body });
      await journal.endUpdate(fenceOf('dead-1'), { isDead: true, outcome: 'failed' });
      const tended = await tendJournal(path);
      await tended.retry('dead-1');
      await tended.close();
      await untilEnded(2);
      expect(await journal.updates()).toMatchObject([{ state: 'ended' }, { state: 'ended' }]);
      expect(lab.log.entries.filter(({ level }) => level === 'error')).toEqual([]);
    },
  );

  const row = { path: 'sluice.db', problem: 'its sum is another', table: 'sends', seq: 2 };
  it.each([
    journalError('database-damaged', row),
    journalError('bad-value', { sql: 'UPDATE', problem: 'value 1 is a symbol' }),
  ])(
    'is given up if the journal refuses it for good, and blocks nobody: $code (durability §1.6, durability §6.7)',
    async (error) => {
      const memory = memoryJournal();
      const journal = mortalJournal(memory, (write, nth) => {
        if (write !== 'endSend' || nth === 2) return undefined; // that of "b"
        return nth === 1 ? full : error;
      });
      await using lab = await hostLab({ journal });
      await lab.channel.receive({ text: 'a', conversation: 'one' }, 'a');
      await lab.clock.advance(10);
      await lab.channel.receive({ text: 'b', conversation: 'two' }, 'b');
      for (let seconds = 0; seconds < 5; seconds++) await lab.clock.advance(1_000);
      expect(lab.texts()).toEqual(['a', 'b']);
      expect(await memory.updates()).toMatchObject([{ state: 'ended' }, { state: 'ended' }]);
      const told = lab.log.entries.filter(({ fields }) => fields['error'] === error);
      expect(told.map(({ message }) => message)).toEqual(['the journal could not keep a send']);
    },
  );

  it('has its message wait until it is persisted, and no other (durability §6.7)', async () => {
    const memory = memoryJournal();
    const failing: Readonly<Record<string, readonly number[]>> = {
      endSend: [1, 3, 4], // of "a", and twice more of "a": the second is that of "b"
      endUpdate: [1], // of "a"
    };
    const journal = mortalJournal(memory, (write, nth) =>
      failing[write]?.includes(nth) ? full : undefined,
    );
    await using lab = await hostLab({ journal });
    await lab.channel.receive({ text: 'a', conversation: 'one' }, 'a');
    await lab.clock.advance(10);
    await lab.channel.receive({ text: 'b', conversation: 'two' }, 'b');
    await lab.clock.advance(1_010);
    expect(lab.texts()).toEqual(['a', 'b']);
    expect(await memory.updates()).toMatchObject([{ state: 'handling' }, { state: 'ended' }]);
    for (let seconds = 0; seconds < 5; seconds++) await lab.clock.advance(1_000);
    expect(lab.texts()).toEqual(['a', 'b']);
    expect(await memory.sends()).toMatchObject([{ state: 'sent' }, { state: 'sent' }]);
    expect(await memory.updates()).toMatchObject([
      { outcome: 'answered' },
      { outcome: 'answered' },
    ]);
    expect(lab.of('egress.failed')).toEqual([]);
  });
});
