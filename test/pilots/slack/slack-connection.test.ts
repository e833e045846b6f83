import { describe, expect, it } from 'vitest';
import { slackChannel } from '../../../extensions/slack/src/channel.js';
import { config } from '../../../extensions/slack/src/config.js';
import { echoProvider } from '../../../src/agent/index.js';
import { createHost } from '../../../src/host/index.js';
import { type Journal, memoryJournal } from '../../../src/journal/index.js';
import { createTestKernel } from '../../../src/testing/index.js';
import { said } from '../../support/slack-api/envelopes.js';
import { type SlackServer, slackServer } from '../../support/slack-api/slack-server.js';
import { slackLab } from '../../support/slack-lab.js';

const whole = { settings: { streaming: false } };

/** A journal that outlives its host, and keeps an update only when it is let. */
function slowJournal() {
  const inner = memoryJournal();
  let release: (problem?: Error) => void = () => undefined;
  const gate = new Promise<void>((resolve, reject) => {
    release = (problem) => (problem === undefined ? resolve() : reject(problem));
  });
  let isFirst = true;
  const accept: Journal['accept'] = async (...update) => {
    if (isFirst) {
      isFirst = false;
      await gate;
    }
    return inner.accept(...update);
  };
  return { journal: { ...inner, acknowledge: 'persisted' as const, accept }, release };
}

describe('the connection to Slack', () => {
  it('that ends as soon as it is made is made again after growing waits', async () => {
    await using lab = await slackLab(whole);
    const beganAtMs = lab.clock.now();
    for (let ends = 1; ends <= 5; ends++) {
      lab.server.endSockets('broken');
      await lab.until(
        () => lab.server.of('apps.connections.open').length === ends + 1,
        'it is asked for',
      );
      await lab.until(() => lab.server.sockets === 1, 'it is there');
    }
    expect(lab.clock.now() - beganAtMs).toBeGreaterThanOrEqual(31_000);
    await lab.settle(said(1, 'hello'));
  });

  it('is not asked for before Slack allows it', async () => {
    await using lab = await slackLab(whole);
    lab.server.fault('apps.connections.open', { tooMany: 90 });
    lab.server.endSockets('broken');
    const beganAtMs = lab.clock.now();
    await lab.until(() => lab.server.of('apps.connections.open').length === 3, 'it is asked for');
    expect(lab.clock.now() - beganAtMs).toBeGreaterThanOrEqual(90_000);
  });

  it('brings its first update before the account has started, and its bot is known', async () => {
    await using server = await slackServer();
    const { botToken, appToken } = server.app;
    server.give(said(1, 'hello'));
    const channel = slackChannel({
      config: config.parse({ apiRoot: server.url }),
      env: { SLACK_BOT_TOKEN: botToken, SLACK_APP_TOKEN: appToken },
    });
    const kind = new Promise((resolve) => {
      void channel.startAccount('default', {
        receive: async ({ raw }) => resolve(channel.decodeIngress(raw, 'default')),
        owns: () => true,
        ended: () => undefined,
      });
    });
    expect(await kind).toMatchObject({ kind: 'message' });
    await channel.stopAccount('default');
  });

  it('may be made again by another host: what it answers is sent', async () => {
    await using lab = await slackLab(whole);
    await lab.host.stop();
    const { clock, channel } = lab;
    const next = createHost({
      agents: [{ id: 'main', provider: echoProvider() }],
      channels: [channel],
      kernel: createTestKernel({ clock }).kernel,
      clock,
    });
    await next.start();
    lab.server.give(said(1, 'hello'));
    await lab.until(() => lab.server.of('chat.postMessage').length === 1, 'it is answered');
    await next.stop();
  });

  it.each<[string, (server: SlackServer) => void, string]>([
    [
      'the app-level token is wrong',
      (server) => server.fault('apps.connections.open', { error: 'invalid_auth' }),
      'Slack does not take the app-level token: invalid_auth: set the token that the pages of the app show',
    ],
  ])('is not made where %s: the account says so', async (_, prepare, text) => {
    await expect(slackLab({ ...whole, prepare })).rejects.toThrow(text);
  });
});

describe('an update of Slack', () => {
  it('is not acknowledged before the journal keeps it, however long that takes', async () => {
    const { journal, release } = slowJournal();
    await using lab = await slackLab({ ...whole, journal });
    lab.server.give(said(1, 'hello'));
    const endsAtMs = lab.clock.now() + 10_000;
    await lab.until(() => lab.clock.now() >= endsAtMs, 'ten seconds have passed');
    expect(lab.server.acknowledged).toEqual([]);
    release();
    await lab.until(() => lab.server.acknowledged.length === 1, 'it is acknowledged');
    await lab.until(() => lab.server.shown.length === 1, 'it is answered');
  });

  it('that the journal could not keep after a long time is taken in when it comes again', async () => {
    const { journal, release } = slowJournal();
    await using lab = await slackLab({ ...whole, journal });
    lab.server.give(said(1, 'hello'));
    const endsAtMs = lab.clock.now() + 10_000;
    await lab.until(() => lab.clock.now() >= endsAtMs, 'ten seconds have passed');
    release(new Error('the disk is full'));
    await lab.until(() => lab.log.entries.some(({ level }) => level === 'error'), 'it failed');
    expect(lab.server.acknowledged).toEqual([]);
    lab.server.giveAgain();
    await lab.until(() => lab.server.shown.length === 1, 'it is answered');
  });
});
