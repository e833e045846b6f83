import assert from 'node:assert/strict';
import { memoryJournal, scrubber } from 'sluice/host';
import { startTestHost } from 'sluice/testing';

const journal = memoryJournal({ scrub: scrubber({ patterns: { email: true } }) });
{
  await using test = await startTestHost({ journal });
  await test.say('I am ada@example.org.');
} // the host stops here
const kept = [await journal.dispatches(), await journal.updates(), await journal.sends()];
assert.match(JSON.stringify(kept), /I am \[email\]\./);
assert.doesNotMatch(JSON.stringify(kept), /ada@example/);
