import { describe, expect, it } from 'vitest';
import { journalError } from '../../src/journal/errors.js';
import type { Fence } from '../../src/journal/fence.js';
import { memoryJournal } from '../../src/journal/memory-journal.js';
import { countedChanges } from '../../src/postgres/postgres-writes.js';
import { aSend } from '../journal/journal-contract.js';

const fence = { eventId: 'u-1', partition: 0, epoch: 1, signal: new AbortController().signal };

/** Changes of which some fail, and the work that they leave active. */
function changesThatFail(code: 'database-io' | 'journal-state') {
  const work = new Set<string>();
  const fail = () =>
    Promise.reject(
      code === 'database-io'
        ? journalError(code, { path: 'x', problem: 'it is away' })
        : journalError(code, { what: 'send', id: 's-1', wanted: 'sent', state: 'failed' }),
    );
  const failing = { endUpdate: fail, prepare: fail, endSend: fail };
  const changes = countedChanges(
    { ...memoryJournal(), ...failing },
    {
      begun: (_: Fence | undefined, id: string) => void work.add(id),
      ended: (_: Fence, id: string) => void work.delete(id),
    },
  );
  return { work, changes };
}

describe('the work of a partition that a host handles', () => {
  it('has no update and no send any more that the journal could not write, so that its partition can be released (durability §11.11)', async () => {
    const { work, changes } = changesThatFail('database-io');
    work.add('u-1').add('s-1');
    await expect(
      changes.endUpdate(fence, { isDead: false, outcome: 'answered' }),
    ).rejects.toMatchObject({ code: 'database-io' });
    await expect(changes.prepare(fence, aSend('s-2'))).rejects.toMatchObject({
      code: 'database-io',
    });
    await expect(
      changes.endSend(fence, 's-1', { state: 'failed', cause: 'x' }),
    ).rejects.toMatchObject({ code: 'database-io' });
    expect([...work]).toEqual([]);
  });

  it('keeps a send that went out until its end is written, or is refused for good (durability §11.11)', async () => {
    for (const [code, left] of [
      ['database-io', ['s-1']],
      ['journal-state', []],
    ] as const) {
      const { work, changes } = changesThatFail(code);
      work.add('s-1');
      await expect(changes.endSend(fence, 's-1', { state: 'sent' })).rejects.toMatchObject({
        code,
      });
      expect([...work]).toEqual(left);
    }
  });
});
