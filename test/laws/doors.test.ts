import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { memoryJournal } from '../../src/journal/index.js';
import { eventIdOf } from '../../src/journal/internal.js';
import { startReceiver } from '../../src/sdk/chat/index.js';
import { virtualClock } from '../../src/testing/index.js';
import { ada, messageUpdate } from '../support/bot-api/updates.js';
import {
  inTable,
  kinds,
  longestOf,
  longestWaitMs,
  misdeeds,
  timed,
  withinMs,
} from '../support/doors-lab.js';
import { hostLab } from '../support/host-lab.js';
import { quietUntil } from '../support/quiet-until.js';
import { said } from '../support/slack-api/envelopes.js';
import { slackLab } from '../support/slack-lab.js';
import { telegramLab } from '../support/telegram-lab.js';

describe('the law for all doors (durability §8.9)', () => {
  for (const misdeed of Object.keys(misdeeds) as (keyof typeof misdeeds)[])
    it.each(Object.keys(kinds) as (keyof typeof kinds)[])(
      `holds beside ${misdeed}, with %s (durability §8.9)`,
      async (kind) => {
        let longest = 0;
        await fc.assert(
          fc.asyncProperty(
            fc.record({
              times: fc.integer({ min: 1, max: kind === 'a journal in a file' ? 130 : 250 }),
              others: fc.array(fc.nat(500), { minLength: 1, maxLength: 6 }),
            }),
            async (plan) => {
              const waitMs = await longestWaitMs(misdeed, kind, plan);
              longest = Math.max(longest, waitMs);
              expect(waitMs).toBeLessThanOrEqual(withinMs);
            },
          ),
          {
            numRuns: kind === 'a journal in a file' ? 2 : 4,
            examples: [[{ times: 130, others: [0, 10] }]],
          },
        );
        inTable?.(`| ${misdeed} | fake channel, ${kind} | ${longest} ms |`);
      },
    );
});

/** What is handed in at a channel of a provider: a flood of one chat, and then words of others. */
const flooded = Array.from({ length: 200 }, (_, at) => `slow ${at}`);
const others = Array.from({ length: 5 }, (_, at) => `good ${at}`);

describe('the law at the channels of providers (durability §8.9)', () => {
  const kept = ['no journal', 'a journal in memory'] as const;
  const chat = (id: number) => ({ id, type: 'private', first_name: 'Ada' });
  const updates = [...flooded, ...others].map((text, at) => {
    const id = text.startsWith('slow') ? 7 : 1_000 + at;
    return messageUpdate({ updateId: 101 + at, text, chat: chat(id), from: { ...ada, id } });
  });
  const handed = new Map(others.map((text) => [text, 0]));

  it.each(kept)('holds at Telegram by polling, with %s (durability §8.9)', async (kind) => {
    const clock = virtualClock();
    const { provider, begunMs } = timed(clock);
    const journal = kinds[kind]();
    await using lab = await telegramLab({
      ...{ clock, agents: [{ id: 'main', provider }], settings: { streaming: false } },
      ...(journal && { journal: await journal }),
    });
    const sinceMs = clock.monotonicMs();
    lab.server.give(...updates);
    await lab.until(() => others.every((text) => begunMs.has(text)), 'the others begin');
    const longest = longestOf(begunMs, handed) - sinceMs;
    expect(longest).toBeLessThanOrEqual(withinMs);
    inTable?.(`| a chat that writes much | Telegram by polling, ${kind} | ${longest} ms |`);
    lab.host.abortTurns();
  });

  it.each(kept)('holds at the webhook of Telegram, with %s (durability §8.9)', async (kind) => {
    const clock = virtualClock();
    const { provider, begunMs } = timed(clock);
    const journal = kinds[kind]();
    const secret = 'a-secret-of-these-tests';
    const webhook = { url: 'https://bots.example/telegram', port: 0, secret };
    await using lab = await telegramLab({
      ...{ clock, agents: [{ id: 'main', provider }], settings: { streaming: false, webhook } },
      ...(journal && { journal: await journal }),
    });
    const sinceMs = clock.monotonicMs();
    const headers = { 'x-telegram-bot-api-secret-token': secret };
    const url = `http://127.0.0.1:${lab.channel.account('default')?.port}/telegram`;
    const left = [...updates];
    /** One of the forty connections that Telegram makes. */
    const connection = async (): Promise<void> => {
      for (let update = left.shift(); update !== undefined; update = left.shift())
        await fetch(url, { method: 'POST', headers, body: JSON.stringify(update) });
    };
    // no time passes before the host has what was brought
    const isQuiet = () =>
      lab.server.isQuiet && lab.host.stats().received === updates.length - left.length;
    const { calls } = lab.server;
    const until = quietUntil(clock, {
      calls,
      get isQuiet() {
        return isQuiet();
      },
    });
    const brought = Promise.all(Array.from({ length: 40 }, connection));
    await until(() => others.every((text) => begunMs.has(text)), 'the others begin');
    const longest = longestOf(begunMs, handed) - sinceMs;
    expect(longest).toBeLessThanOrEqual(withinMs);
    inTable?.(`| a chat that writes much | the webhook of Telegram, ${kind} | ${longest} ms |`);
    lab.host.abortTurns();
    let isBrought = false;
    void brought.then(() => {
      isBrought = true;
    });
    await lab.until(() => isBrought, 'all is brought');
  });

  it.each(kept)('holds at Slack, with %s (durability §8.9)', async (kind) => {
    const clock = virtualClock();
    const { provider, begunMs } = timed(clock);
    const journal = kinds[kind]();
    await using lab = await slackLab({
      ...{ clock, agents: [{ id: 'main', provider }], settings: { streaming: false } },
      ...(journal && { journal: await journal }),
    });
    const sinceMs = clock.monotonicMs();
    for (const [at, text] of [...flooded, ...others].entries()) {
      const isFlood = text.startsWith('slow');
      const by = { user: isFlood ? 'U00BAD' : `U00${at}`, channel: isFlood ? 'D0BAD' : `D0${at}` };
      lab.server.give(said(at + 1, text, by));
    }
    await lab.until(() => others.every((text) => begunMs.has(text)), 'the others begin');
    const longest = longestOf(begunMs, handed) - sinceMs;
    expect(longest).toBeLessThanOrEqual(withinMs);
    inTable?.(`| a person who writes much | Slack, ${kind} | ${longest} ms |`);
    lab.host.abortTurns();
  });
});

describe('the law after a crash (durability §8.9)', () => {
  it.each([1, 2])(
    'holds beside a suspect whose turn hangs, after %i deaths, with a backlog of one conversation (durability §8.9)',
    async (deaths) => {
      const journal = memoryJournal();
      const keep = async (text: string, conversation: string): Promise<string> => {
        const eventId = eventIdOf('scripted', 'default', text);
        const body = JSON.stringify({ text, conversation, from: conversation });
        const about = { channel: 'scripted', accountId: 'default', receivedAtMs: 0 };
        await journal.accept({ eventId, ...about, updateId: text, body });
        return eventId;
      };
      for (const text of ['hang', ...others]) {
        const eventId = await keep(text, text);
        for (let times = 0; times < deaths; times++) await journal.begin(eventId);
      }
      for (const text of flooded) await keep(text, 'bad');
      await keep('good, and new', 'new');
      const clock = virtualClock();
      const { provider, begunMs } = timed(clock);
      const lab = await hostLab({ clock, journal, agents: [{ id: 'main', provider }] });
      await clock.advance(withinMs);
      const all = [...others, 'good, and new'];
      const longest = longestOf(begunMs, new Map(all.map((text) => [text, 0])));
      expect(longest).toBeLessThanOrEqual(withinMs);
      inTable?.(`| a crash suspect that hangs | recovery after ${deaths} deaths | ${longest} ms |`);
      lab.host.abortTurns();
      await lab[Symbol.asyncDispose]();
    },
  );
});

describe('the law at a port (durability §8.9)', () => {
  it('holds beside an address that opens connections and says nothing: another one is answered (durability §8.9)', async () => {
    const receiver = await startReceiver({
      ...{ host: '0.0.0.0', port: 0, name: 'test' },
      take: (exchange) => exchange.answer(200, 'here'),
    });
    const { port } = receiver;
    const silent = Array.from({ length: 300 }, () =>
      connect({ port, host: '127.0.0.1' }).on('error', () => undefined),
    );
    await Promise.all(silent.map((socket) => once(socket, 'connect')));
    const asked = get({ port, host: '127.0.0.1', localAddress: '127.0.0.2' });
    const [answer] = (await once(asked, 'response')) as [IncomingMessage];
    expect(answer.statusCode).toBe(200);
    answer.resume();
    for (const socket of silent) socket.destroy();
    await receiver.close();
  });
});
