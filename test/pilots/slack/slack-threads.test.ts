import { describe, expect, it } from 'vitest';
import threadOwnership from '../../../extensions/thread-ownership/src/index.js';
import { claimsLab } from '../../../extensions/thread-ownership/test/claims-lab.js';
import { virtualClock } from '../../../src/testing/index.js';
import { said, tsOf } from '../../support/slack-api/envelopes.js';
import { type SlackServer, slackServer } from '../../support/slack-api/slack-server.js';
import { type SlackLab, slackLab } from '../../support/slack-lab.js';
import { end, said as says, scripted, start } from '../../support/turn-lab.js';

const channel = 'C001';

/** Two hosts with an app each in one channel of one workspace, and the ownership service that both ask. */
async function twoHosts() {
  const service = await claimsLab();
  const clock = virtualClock();
  const server = await slackServer(() => clock.now());
  server.watch(service.server.url);
  const apps = [server.app, server.addApp('other')] as const;
  const hostOf = (at: 0 | 1): Promise<SlackLab> => {
    const name = at === 0 ? 'One' : 'Two';
    const answer = () => [start, ...says(`${name} answers`), end()];
    return slackLab({
      clock,
      settings: { channels: { [channel]: { requireMention: false } } },
      agents: [
        {
          id: name.toLowerCase(),
          provider: scripted(async function* () {
            yield* answer();
          }),
        },
      ],
      extensions: [
        {
          extension: threadOwnership,
          config: {
            forwarderUrl: service.server.url,
            agents: [{ id: name.toLowerCase(), name, botUserId: apps[at].userId }],
          },
        },
      ],
      shared: { server, process: name, app: apps[at] },
    });
  };
  const hosts = [await hostOf(0), await hostOf(1)] as const;
  /** Slack tells both of what a person writes, `first` before the other. */
  const write = async (
    first: 0 | 1,
    number: number,
    text: string,
    thread?: number,
  ): Promise<void> => {
    const more = { channel, ...(thread !== undefined && { thread_ts: tsOf(thread) }) };
    for (const at of first === 0 ? ([0, 1] as const) : ([1, 0] as const))
      await hosts[at].settle(said(number, text, more));
  };
  return {
    ...{ server, hosts, write, service },
    [Symbol.asyncDispose]: async () => {
      for (const host of hosts) await host[Symbol.asyncDispose]();
      await server[Symbol.asyncDispose]();
      await service[Symbol.asyncDispose]();
    },
  };
}

const inThread = (server: SlackServer, number: number): readonly string[] =>
  server.shown.filter(({ threadTs }) => threadTs === tsOf(number)).map(({ text }) => text);

describe('two hosts in one thread of Slack, with thread-ownership', () => {
  it('answer once: the first has the thread, and the other is silent there', async () => {
    await using lab = await twoHosts();
    await lab.write(0, 1, 'who knows the plan?');
    expect(inThread(lab.server, 1)).toEqual(['One answers']);
    await lab.write(1, 2, 'and the costs?', 1);
    expect(inThread(lab.server, 1)).toEqual(['One answers', 'One answers']);
    const [one, two] = lab.hosts;
    expect(one.of('egress.cancelled')).toEqual([]);
    expect(two.of('egress.cancelled').map(({ payload }) => payload.cancel.code)).toEqual(
      Array.from({ length: 2 }, () => 'owned-elsewhere'),
    );
  });

  it('have a thread each where each was first', async () => {
    await using lab = await twoHosts();
    await lab.write(0, 1, 'one thing');
    await lab.write(1, 2, 'another thing');
    expect([inThread(lab.server, 1), inThread(lab.server, 2)]).toEqual([
      ['One answers'],
      ['Two answers'],
    ]);
    expect((await lab.service.ask(`/api/v1/ownership/${channel}/${tsOf(2)}`)).body).toMatchObject({
      ...{ channel, thread: tsOf(2), owner: 'two' },
    });
  });

  it('answer both where the silent one is mentioned, as Slack writes it', async () => {
    await using lab = await twoHosts();
    await lab.write(0, 1, 'who knows the plan?');
    await lab.write(0, 2, '<@UBOT2>, what do you say?', 1);
    expect(inThread(lab.server, 1)).toEqual(['One answers', 'One answers', 'Two answers']);
  });
});
