import { expect, it } from 'vitest';
import { memoryJournal } from '../../../src/journal/index.js';
import { actingLab } from '../../support/acting-lab.js';

it('a job that this version does not know goes to the dead letters, whole, and holds up nothing (extensions-that-act §5.1)', async () => {
  const journal = memoryJournal();
  const body = JSON.stringify({ kind: 'later', text: 'of a newer host' });
  const about = { channel: 'sluice', accountId: 'inject', receivedAtMs: 0, body };
  await journal.accept({ eventId: 'job-1', updateId: '1', ...about });
  await using lab = await actingLab({ journal });
  await lab.api.inject('agent:main:scripted:one', 'a note');
  await lab.clock.advance(1_000);
  expect(await journal.updates()).toMatchObject([
    { eventId: 'job-1', state: 'dead', outcome: 'undecodable', body },
    { accountId: 'inject', state: 'ended', outcome: 'job' },
  ]);
});
