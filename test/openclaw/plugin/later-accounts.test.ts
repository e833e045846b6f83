import { describe, expect, it } from 'vitest';
import { eventIdOf } from '../../../src/journal/internal.js';
import type { ChannelInbox } from '../../../src/sdk/channel/index.js';
import { memoryKeyValues } from '../../../src/sdk/extension/internal.js';
import { createTestKernel } from '../../../src/testing/index.js';
import { postOffice } from './channel-lab.js';

/** The channel of a plugin with two accounts, started without a host; updates are accepted as `receive` says. */
async function twoAccounts(receive: ChannelInbox['receive']) {
  const post = postOffice({ members: { config: { listAccountIds: () => ['one', 'two'] } } });
  const { kernel, clock } = createTestKernel();
  const [plugin] = post.load(kernel);
  const values = memoryKeyValues();
  const [channel] = plugin?.provide({ clock, keyValues: values, eventIdOf }).channels ?? [];
  if (channel === undefined) throw new Error('it has no channel');
  const start = (accountId: string) =>
    channel.startAccount(accountId, { receive, owns: () => true, ended: () => undefined });
  await start('one');
  await start('two');
  return { post, channel, start, values };
}

describe('an account that goes from host to host (event-pipeline §17.35)', () => {
  it('reads its queue again when it starts', async () => {
    const { post, channel, start, values } = await twoAccounts(async () => undefined);
    const openQueue = post.state()['openChannelIngressQueue'] as unknown as (of: object) => {
      enqueue(id: string, payload: unknown): Promise<object>;
      listPending(): Promise<readonly { readonly id: string }[]>;
    };
    const queue = openQueue({ accountId: 'one' });
    await queue.enqueue('1', {});
    await channel.stopAccount('one');
    await values.clear('/legacy-ingress/post/one'); // by the other host
    await start('one');
    expect(await queue.listPending()).toEqual([]);
    for (const id of ['one', 'two']) await channel.stopAccount(id);
  });

  it('lets its own dispatchers end when it stops, and no others', async () => {
    const { post, channel } = await twoAccounts(() => new Promise(() => undefined));
    const ends: string[] = [];
    const brought = ['one', 'two'].map((AccountId) =>
      post.bring('hi', { AccountId, MessageSid: AccountId }).catch(() => ends.push(AccountId)),
    );
    await channel.stopAccount('one');
    await brought[0];
    expect(ends).toEqual(['one']);
    await channel.stopAccount('two');
    await brought[1];
    expect(ends).toEqual(['one', 'two']);
  });
});
