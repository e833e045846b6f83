import { expect, it } from 'vitest';
import { Outbox } from '../../../src/host/outbox/outbox.js';
import { journalError } from '../../../src/journal/errors.js';
import { memoryJournal } from '../../../src/journal/index.js';
import { createTestKernel } from '../../../src/testing/index.js';
import { sideBySide } from '../../support/side-by-side.js';

it('persists the ends of 10,000 sends that the journal could not take, and no more than eight at once (durability §6.7)', async () => {
  const journal = memoryJournal();
  const writes = sideBySide();
  let isAway = true;
  const endSend = () => {
    if (isAway) throw journalError('database-io', { path: 'memory', problem: 'no answer' });
    return writes.run(() => undefined);
  };
  const { kernel, log } = createTestKernel();
  const outbox = new Outbox({ ...journal, endSend: async () => endSend() }, log);
  const fence = journal.ownership.fenceOf(0);
  if (fence === undefined) throw new Error('one host has all slots');
  const prepared = await kernel.dispatch('egress.preparing', {
    ...{ channel: 'scripted', to: 'one', kind: 'unprompted', content: 'Hi', explicit: true },
    ...{ attachments: [], metadata: {}, streaming: false, accounts: [] },
  });
  for (let at = 0; at < 10_000; at++) {
    const event = { ...prepared.event, eventId: `send-${at}` };
    const one = { ...prepared, payload: event.payload, event };
    await outbox.end({ fence }, one, { state: 'sent' }, { isHeard: true, isDoubtful: false });
  }
  expect(outbox.isOwing).toBe(true);
  isAway = false;
  await outbox.persistSent();
  expect([outbox.isOwing, writes.ran, writes.most]).toEqual([false, 10_000, 8]);
});
