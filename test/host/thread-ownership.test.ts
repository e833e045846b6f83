import { afterEach, describe, expect, it, vi } from 'vitest';
import threadOwnership from '../../extensions/thread-ownership/src/index.js';
import { openClaims } from '../../extensions/thread-ownership/src/server/claims.js';
import { startOwnershipServer } from '../../extensions/thread-ownership/src/server/ownership-server.js';
import { openSqlite } from '../../src/journal/index.js';
import { loadExtension } from '../../src/sdk/extension/index.js';
import { virtualClock } from '../../src/testing/index.js';
import { type HostLab, type HostLabOptions, hostLab } from '../support/host-lab.js';
import { scriptedChannel } from '../support/scripted-channel.js';
import { slowly } from '../support/slowly.js';
import { streamingChannel } from '../support/streaming-channel.js';
import { end, said, start } from '../support/turn-lab.js';

/** A host on Slack that asks a service for its threads, as an agent of a name. */
async function owningHost(
  forwarderUrl: string,
  id: string,
  options: HostLabOptions = {},
): Promise<HostLab> {
  const lab = await hostLab({ channel: scriptedChannel({ id: 'slack' }), ...options });
  const { kernel, clock, log: logger } = lab;
  const config = { forwarderUrl, agents: [{ id, name: id }] };
  const loaded = await loadExtension(kernel, threadOwnership, { config, clock, logger });
  expect(loaded.status).toBe('loaded');
  return lab;
}

/** An ownership service in the place of the network: each request gets the next answer. */
function answers(...statuses: readonly number[]): void {
  const left = [...statuses];
  vi.stubGlobal('fetch', async () => {
    const status = left.shift() ?? expect.fail('it was asked once more');
    return new Response('{"owner":"two"}', { status });
  });
}

afterEach(() => vi.unstubAllGlobals());

describe('two whole hosts that hear the same messages', () => {
  it('answer each of 100 threads once, over HTTP, and tell who was kept back (fault 45)', async () => {
    const database = openSqlite(':memory:');
    const claims = openClaims(database, { ttlMs: 60_000, now: Date.now });
    const server = await startOwnershipServer({ claims, host: '127.0.0.1', port: 0 });
    {
      await using one = await owningHost(server.url, 'one');
      await using two = await owningHost(server.url, 'two');
      for (let at = 0; at < 100; at++) {
        const message = { text: `hello ${at}`, conversation: 'C1', thread: `17.${at}` };
        const ends = await Promise.all([one.say(message), two.say(message)]);
        expect(ends.map(({ status }) => status).sort()).toEqual(['answered', 'cancelled']);
      }
      expect(one.texts().length + two.texts().length).toBe(100);
      const kept = [...one.of('egress.cancelled'), ...two.of('egress.cancelled')];
      expect(kept).toHaveLength(100);
      for (const { payload } of kept)
        expect(payload.cancel).toMatchObject({
          extensionId: 'thread-ownership',
          code: 'owned-elsewhere',
          details: {
            owner: one.of('egress.cancelled').some((mine) => mine.payload === payload)
              ? 'two'
              : 'one',
          },
        });
    }
    await server.close(0);
    database.close();
  });

  it('both answer where both are mentioned', async () => {
    answers(); // nobody is asked
    await using one = await owningHost('http://forwarder', 'one');
    await using two = await owningHost('http://forwarder', 'two');
    const message = { text: '@one and @two?', conversation: 'C1', thread: '1' };
    expect(await one.say(message)).toMatchObject({ status: 'answered' });
    expect(await two.say(message)).toMatchObject({ status: 'answered' });
  });
});

describe('a streamed reply to a thread (§14.6)', () => {
  const streaming = async (...statuses: readonly number[]) => {
    answers(...statuses);
    const clock = virtualClock();
    const channel = streamingChannel({ id: 'slack' });
    const provider = slowly(clock, () => [start, ...said('Hello world'), end()]);
    const options = { channel, clock, agents: [{ id: 'main', provider }] };
    const lab = await owningHost('http://forwarder', 'one', options);
    const saying = lab.say({ text: 'hi', conversation: 'C1', thread: '1' });
    await clock.advance(10_000);
    return { lab, channel, ended: await saying };
  };

  it('is shown while it grows where the thread is granted: the veto judges no text', async () => {
    const { lab, channel, ended } = await streaming(200, 200);
    expect(ended).toMatchObject({ status: 'answered' });
    expect(channel.everShown[0]).toEqual({ by: 'preview', text: 'Hell' });
    expect(channel.screen).toEqual([{ by: 'final', text: 'Hello world' }]);
    await lab[Symbol.asyncDispose]();
  });

  it('is never shown where another agent owns the thread', async () => {
    const { lab, channel, ended } = await streaming(409, 409);
    expect(ended).toMatchObject({ status: 'cancelled' });
    expect(channel.everShown).toEqual([]);
    await lab[Symbol.asyncDispose]();
  });

  it('is taken back where the thread was lost while it grew', async () => {
    const { lab, channel, ended } = await streaming(200, 409);
    expect(ended).toMatchObject({ status: 'cancelled' });
    expect(channel.everShown.length).toBeGreaterThan(0);
    expect(channel.screen).toEqual([]);
    const [cancelled] = lab.of('egress.cancelled');
    expect(cancelled?.payload.cancel.text).toBe('two owns the thread 1 of C1');
    await lab[Symbol.asyncDispose]();
  });
});
