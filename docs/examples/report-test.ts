import assert from 'node:assert/strict';
import { fakeChannel, startTestHost, virtualClock } from 'sluice/testing';
import report from './report.js';

const channel = fakeChannel({ id: 'telegram' });
const clock = virtualClock(Date.parse('2026-03-16T07:59:30Z')); // nine in Berlin is eight in UTC
await using test = await startTestHost({ extensions: [report], channel, clock });
const [morning] = test.host.schedules();
assert.equal(morning?.nextDueAt, Date.parse('2026-03-16T08:00Z'));
await test.clock.advance(60_000);
assert.deepEqual(test.replies(), ['Nothing has broken.']);
