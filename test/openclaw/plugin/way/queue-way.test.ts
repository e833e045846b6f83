import { afterEach, describe, expect, it, vi } from 'vitest';
import { breakMembers, call, labOf, queueOf } from './way-lab.js';

afterEach(() => vi.restoreAllMocks());

describe('the queue of a channel (event-pipeline §17.36)', () => {
  it('loses no event that it could not take: it is a dead letter, whatever fields it has', async () => {
    breakMembers((member) => member.endsWith('openChannelIngressQueue.enqueue'), 'rejects');
    await using lab = await labOf((post, text) =>
      queueOf(post).enqueue('1', { frame: { it: text } }),
    );
    await lab.say('hello');
    await lab.clock.advance(10_000);
    await vi.waitFor(() => expect(lab.ends).toHaveLength(1), 60_000);
    expect(lab.ends[0]).toMatchObject({
      ...{ status: 'undecodable', reason: expect.stringContaining('a fault of ours') },
    });
    expect(lab.of('ingress.received')[0]?.payload.raw).toMatchObject({
      cameAs: '{"frame":{"it":"hello"}}',
    });
  });

  it('loses no event if a member fails in code whose own text the queue has already', async () => {
    breakMembers((member) => member.endsWith('.activity.record'), 'rejects');
    await using lab = await labOf(async (post, text) => {
      const queue = queueOf(post);
      await queue.enqueue('1', { text });
      const event = await queue.claimNext();
      const how = { debounceMs: 0, buildKey: () => 'key', onFlush: () => undefined };
      const made = call(post, 'debounce', 'createInboundDebouncer', how);
      const ingest = async (): Promise<null> => {
        await (made as { enqueue(item: string): Promise<void> }).enqueue(text); // it waits somewhere
        await Promise.resolve(call(post, 'activity', 'record', {})).catch(() => undefined); // swallowed, as plugins do
        return null;
      };
      await call(post, 'inbound', 'run', { raw: text, adapter: { ingest } });
      if (event !== null) await queue.complete(event);
    });
    await lab.say('hello');
    await vi.waitFor(() => expect(lab.ends).toHaveLength(1), 60_000);
    expect(lab.ends[0]?.reason).toContain('activity.record: a fault of ours');
  });

  it('is in trouble if events wait in it and its plugin works on none, until one is taken', async () => {
    await using lab = await labOf(async (post, text) => {
      if (text === 'work') await queueOf(post).claimNext();
      else await queueOf(post).enqueue(text, { text });
    });
    await lab.say('first');
    await lab.say('second');
    await lab.clock.advance(60_000);
    expect(lab.degraded()).toEqual([]);
    await lab.clock.advance(1);
    expect(lab.degraded()).toEqual([
      ['post/default', 'messages wait in its queue, and its plugin takes none'],
    ]);
    await lab.say('work');
    expect(lab.degraded()).toEqual([]); // a long turn is no trouble
  });
});
