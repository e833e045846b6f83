import { expect, it, onTestFinished, vi } from 'vitest';
import { createWebApi } from '../../../extensions/slack/src/api/web-api.js';
import { config } from '../../../extensions/slack/src/config.js';
import { slackSurface } from '../../../extensions/slack/src/egress/surface.js';
import { memoryJournal } from '../../../src/journal/index.js';
import { chatPreviews, chatStreamSender } from '../../../src/sdk/chat/index.js';
import { collectingLogger, virtualClock } from '../../../src/testing/index.js';
import { mortalJournal } from '../../support/mortal-journal.js';
import { quietUntil } from '../../support/quiet-until.js';
import { said as saidOnSlack } from '../../support/slack-api/envelopes.js';
import { slackServer } from '../../support/slack-api/slack-server.js';
import { slackLab } from '../../support/slack-lab.js';
import { slowly } from '../../support/slowly.js';
import { describeStreamSender } from '../../support/stream-sender-contract.js';
import { end, said, start } from '../../support/turn-lab.js';

vi.setConfig({ testTimeout: 300_000 }); // many hosts one after the other, on a busy machine

describeStreamSender('the stream sender of Slack', {
  endsPreviews: true,
  message: { channel: 'slack', accountId: 'default', to: 'C001', interactive: {} },
  open: async (permits) => {
    const clock = virtualClock();
    const server = await slackServer(() => clock.now());
    onTestFinished(() => server[Symbol.asyncDispose]());
    const api = createWebApi({ token: server.app.botToken, apiRoot: server.url, clock });
    const parts = {
      surface: slackSurface({ apiOf: () => api, config: config.parse({}), clock }),
      inbox: () => undefined,
      clock,
      log: collectingLogger(),
      signal: new AbortController().signal,
    };
    const until = quietUntil(clock, server);
    return {
      sender: chatStreamSender(parts, permits),
      previews: chatPreviews(parts),
      settle: async () => {
        const endsAtMs = clock.now() + 20_000;
        await until(() => clock.now() >= endsAtMs, 'time has passed');
      },
      visible: () => server.shown.map(({ text }) => text.replace(/ ▌$/, '')),
    };
  },
});

it('shows an answer while it grows, by edits that Slack allows, in one message', async () => {
  const clock = virtualClock();
  const words = Array.from({ length: 60 }, (_, at) => `w${at} `);
  const answer = words.join('').trim();
  await using lab = await slackLab({
    clock,
    agents: [{ id: 'main', provider: slowly(clock, () => [start, ...said(answer), end()], 100) }],
  });
  const atMs: number[] = [];
  lab.server.onCall = (_, when) => {
    if (when === 'before') atMs.push(clock.now());
  };
  await lab.settle(saidOnSlack(1, 'hello', { channel: 'C001', text: '<@UBOT1> hello' }));
  expect(lab.server.shown).toMatchObject([{ text: answer }]);
  expect(lab.server.of('chat.postMessage')).toHaveLength(1);
  expect(lab.server.of('chat.update').length).toBeGreaterThan(2);
  const grown = atMs.slice(0, -1); // the final does not wait
  const gaps = grown.slice(1).map((at, index) => at - (grown[index] ?? 0));
  expect(Math.min(...gaps)).toBeGreaterThanOrEqual(1_200);
  expect(lab.of('egress.sent')).toHaveLength(1);
});

it('a host that dies at any point of a growing reply: the next one answers once, and leaves no preview', async () => {
  const answer = 'The answer is as long as a few edits of it take, and no longer.';
  const seen = new Set<string>();
  const steps = new Set(['prepare', 'shown', 'final', 'sending', 'unsent', 'endSend']);
  const run = async (
    name: string,
    server: Awaited<ReturnType<typeof slackServer>>,
    clock: ReturnType<typeof virtualClock>,
    journal: ReturnType<typeof memoryJournal>,
    diesAt: number,
  ) => {
    const way: string[] = [];
    let isDead = false;
    const step = (what: string): void => {
      if (isDead) return;
      way.push(what);
      if (way.length !== diesAt) return;
      isDead = true;
      mortal.kill();
      server.cutOff(name);
    };
    const mortal = mortalJournal(journal, (kind) => {
      if (steps.has(kind)) step(`before ${kind}`);
      return undefined;
    });
    server.onCall = (method, when) => step(`${when} ${method}`);
    const provider = slowly(clock, () => [start, ...said(answer), end()], 300);
    const lab = await slackLab({
      ...{
        clock,
        journal: mortal,
        agents: [{ id: 'main', provider }],
        failureText: () => undefined,
      },
      shared: { server, process: name },
    });
    if (name === 'first') server.give(saidOnSlack(1, 'hi'));
    let isDone = false;
    const look = async (): Promise<void> => {
      const updates = await journal.updates();
      isDone = updates.length > 0 && updates.every(({ endedAtMs }) => endedAtMs !== undefined);
    };
    await lab.until(() => {
      void look();
      return isDead || isDone;
    }, `${name} has died or is done`);
    server.onCall = undefined;
    await lab[Symbol.asyncDispose]();
    return isDead ? way : undefined;
  };
  for (let diesAt = 1; ; diesAt++) {
    const clock = virtualClock();
    await using server = await slackServer(() => clock.now());
    const journal = memoryJournal();
    const way = await run('first', server, clock, journal, diesAt);
    if (way === undefined) break;
    seen.add(way.at(-1) ?? '');
    expect(await run('second', server, clock, journal, 0)).toBeUndefined();
    const where = `it died at step ${diesAt}: ${way.join(', ')}`;
    const texts = server.shown.map(({ text }) => text);
    // nobody knows the id of a first message whose answer, or the note of it, was lost: its beginning stays
    const begun = way.lastIndexOf('after chat.postMessage');
    const noted = way.lastIndexOf('before shown');
    const isUnknown = begun !== -1 && (noted < begun || noted === way.length - 1);
    expect(isUnknown ? texts.filter((text) => !text.endsWith('▌')) : texts, where).toEqual([
      answer,
    ]);
    expect(await journal.updates(), where).toMatchObject([{ state: 'ended', outcome: 'answered' }]);
  }
  expect([...seen]).toEqual(
    expect.arrayContaining([
      'before chat.postMessage',
      'before shown',
      'before chat.update',
      'after chat.update',
      'before endSend',
    ]),
  );
});
