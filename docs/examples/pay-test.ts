import assert from 'node:assert/strict';
import { expectDenied, fakeChannel, scriptedAgent, startTestHost } from 'sluice/testing';
import pay from './pay.js';

const call = { tool: 'pay', args: { to: 'Ada', euros: 5 } }; // no `result`: the tool of the host is called
const provider = scriptedAgent([[call, 'Done.']]);
const channel = fakeChannel({ interactive: ['buttons'] });
const agents = [{ id: 'main', provider }];
await using test = await startTestHost({ extensions: [pay], channel, agents });

const paid = test.say({ text: 'Pay Ada.', roles: ['owner'] }); // do not await it: it waits for the answer
await test.clock.advance(1_000);
await test.press('Allow', { roles: ['owner'] });
await paid;
assert.match(JSON.stringify(await test.transcript()), /Ada has 5 euros/);

const refused = test.say({ text: 'Pay Ada.', roles: ['owner'] });
await test.clock.advance(1_000);
await test.press('Deny', { roles: ['owner'] });
expectDenied(await refused, { by: 'pay/ask' });
