import assert from 'node:assert/strict';
import { memoryJournal } from 'sluice/host';
import { startTestHost } from 'sluice/testing';
import reminder from './reminder.js';

const journal = memoryJournal();
{
  await using test = await startTestHost({ extensions: [reminder], journal });
  await test.say('/remind 10 drink tea');
} // the first host stops here
await using test = await startTestHost({ extensions: [reminder], journal });
await test.clock.advance(600_000);
assert.deepEqual(test.replies(), ['You wanted to know: drink tea']);
