import { expectDenied, expectReply, fakeChannel, startTestHost } from 'sluice/testing';
import limiter from './limiter.js';

const channel = fakeChannel();
channel.next({ status: 'retry-after', retryAfterMs: 1_000 }); // the provider asks to wait
await using test = await startTestHost({ extensions: [limiter], channel });

const first = test.say('hello');
await test.clock.advance(1_000);
expectReply(await first, 'hello');
expectDenied(await test.say('again'), { code: 'rate-limited', by: 'limiter' });
await test.clock.advance(60_000);
expectReply(await test.say('again'), 'again');
