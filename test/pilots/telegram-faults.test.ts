import { describe, expect, it } from 'vitest';
import { echoProvider } from '../../src/agent/index.js';
import { memoryJournal } from '../../src/journal/index.js';
import { pause } from '../../src/sdk/chat/index.js';
import type { AgentProvider } from '../../src/sdk/stream/index.js';
import { type VirtualClock, virtualClock } from '../../src/testing/index.js';
import {
  badMarkup,
  blocked,
  type Fault,
  internalError,
  tooMany,
} from '../support/bot-api/fault.js';
import { forum, messageUpdate, saidAtS } from '../support/bot-api/updates.js';
import { mortalJournal } from '../support/mortal-journal.js';
import { type TelegramLab, telegramLab } from '../support/telegram-lab.js';

const whole = { settings: { streaming: false } };

/** The one end of the one send that there was. */
function endOf(lab: TelegramLab): Record<string, unknown> {
  const ends = lab.outcomes.filter(({ event }) =>
    ['egress.sent', 'egress.failed', 'egress.cancelled'].includes(event.family),
  );
  expect(ends).toHaveLength(1);
  return { family: ends[0]?.event.family, ...(ends[0]?.payload as object) };
}

async function send(faults: readonly Fault[], text = 'hello'): Promise<TelegramLab> {
  const lab = await telegramLab({ ...whole, failureText: () => undefined });
  lab.server.fault('sendMessage', ...faults);
  await lab.settle(messageUpdate({ updateId: 101, text }));
  return lab;
}

describe('fault 44: a send', () => {
  it('that Telegram has no time for is sent once, when its time has come', async () => {
    await using lab = await send([tooMany(3), tooMany(2)]);
    expect(endOf(lab)).toMatchObject({ family: 'egress.sent', attempt: 3 });
    expect(lab.server.shown).toMatchObject([{ text: 'hello' }]);
    const { durationMs } = endOf(lab) as { durationMs: number };
    expect(durationMs).toBeGreaterThanOrEqual(5_000);
  });

  it('that Telegram has no time for and does not say how long waits longer each time', async () => {
    await using lab = await send([tooMany(), tooMany(), tooMany()]);
    expect(endOf(lab)).toMatchObject({ family: 'egress.sent', attempt: 4 });
    const { durationMs } = endOf(lab) as { durationMs: number };
    expect(durationMs).toBeGreaterThanOrEqual(1_000 + 2_000 + 4_000);
    expect(lab.server.shown).toHaveLength(1);
  });

  it('in a storm of 429 is given up, once, and the next message goes', async () => {
    await using lab = await send(Array.from({ length: 5 }, () => tooMany(1)));
    expect(endOf(lab)).toMatchObject({
      family: 'egress.failed',
      cause: 'retry-after',
      attempts: 5,
    });
    await lab.settle(messageUpdate({ updateId: 102, text: 'again' }));
    expect(lab.server.shown).toMatchObject([{ text: 'again' }]);
  });

  it('that is to wait longer than its budget fails at once, and says how long', async () => {
    await using lab = await send([tooMany(3_600)]);
    expect(endOf(lab)).toMatchObject({
      cause: 'retry-after',
      retryAfterMs: 3_600_000,
      attempts: 1,
    });
  });

  it.each<[string, Fault, number]>([
    ['a 500', internalError, 0],
    ['a 502 with a page', { html: 502 }, 0],
    ['a 502 with a page, after it was accepted', { html: 502, after: true }, 1],
    ['a connection that breaks', { reset: true }, 0],
    ['a connection that breaks, after it was accepted', { reset: true, after: true }, 1],
    ['no answer', { hang: true }, 0],
    ['no answer, after it was accepted', { hang: true, after: true }, 1],
  ])('that meets %s is ambiguous, and not sent again', async (_, fault, shown) => {
    await using lab = await send([fault]);
    expect(endOf(lab)).toMatchObject({ family: 'egress.failed', cause: 'ambiguous', attempts: 1 });
    expect(lab.server.of('sendMessage')).toHaveLength(1);
    expect(lab.server.shown).toHaveLength(shown);
  });

  it('to somebody who has blocked the bot is refused for good, in Telegram’s words', async () => {
    await using lab = await send([blocked]);
    expect(endOf(lab)).toMatchObject({
      cause: 'rejected',
      error: '403: Forbidden: bot was blocked by the user',
      attempts: 1,
    });
  });

  it('whose markup is refused goes out without it, once', async () => {
    await using lab = await send([badMarkup], 'a **bold** word');
    expect(endOf(lab)).toMatchObject({ family: 'egress.sent', attempt: 1 });
    expect(lab.server.shown).toMatchObject([{ text: 'a bold word', html: false }]);
    expect(lab.server.of('sendMessage')[0]?.payload).toMatchObject({
      text: 'a <b>bold</b> word',
      parse_mode: 'HTML',
    });
  });

  it('of a group that has become another goes there', async () => {
    const moved: Fault = {
      refuse: 400,
      description: 'Bad Request: group chat was upgraded to a supergroup chat',
      parameters: { migrate_to_chat_id: -100_777 },
    };
    await using lab = await send([moved]);
    expect(lab.server.shown).toMatchObject([{ chatId: -100_777, text: 'hello' }]);
    expect(endOf(lab)).toMatchObject({ receipt: { conversationId: 'telegram:-100777' } });
  });

  it.each<[string, (at: number) => number]>([
    ['that moves on and on', (at) => -100_700 - at],
    ['that moves to and fro', (at) => -100_700 - (at % 2)],
  ])('L2: to a group %s is followed once, and then refused', async (_, chatAt) => {
    const faults = Array.from(
      { length: 50 },
      (_, at): Fault => ({
        refuse: 400,
        description: 'Bad Request: group chat was upgraded to a supergroup chat',
        parameters: { migrate_to_chat_id: chatAt(at) },
      }),
    );
    await using lab = await send(faults);
    expect(lab.server.of('sendMessage').map(({ payload }) => payload['chat_id'])).toEqual([
      42, -100_700,
    ]);
    expect(endOf(lab)).toMatchObject({
      cause: 'rejected',
      error: '400: Bad Request: group chat was upgraded to a supergroup chat',
      attempts: 1,
    });
  });

  it.each<[string, unknown]>([
    ['text', 'soon'],
    ['negative', -5],
    ['null', null],
    ['nothing', 0],
  ])('L2: that Telegram has no time for, in junk (%s), waits longer each time', async (_, junk) => {
    await using lab = await send([tooMany(junk), tooMany(junk), tooMany(junk)]);
    expect(endOf(lab)).toMatchObject({ family: 'egress.sent', attempt: 4 });
    const { durationMs } = endOf(lab) as { durationMs: number };
    expect(durationMs).toBeGreaterThanOrEqual(1_000 + 2_000 + 4_000);
    expect(lab.server.of('sendMessage')).toHaveLength(4);
  });

  it('L2: that Telegram asks to wait for longer than anybody can is given up at once', async () => {
    await using lab = await send([tooMany(1e15)]);
    expect(endOf(lab)).toMatchObject({ cause: 'retry-after', attempts: 1 });
    expect(lab.server.of('sendMessage')).toHaveLength(1);
  });

  it.each<[string, unknown]>([
    ['no result', { ok: true }],
    ['a result of null', { ok: true, result: null }],
    ['a result that is no message', { ok: true, result: true }],
    ['a message without an id', { ok: true, result: { chat: { id: 42 }, date: 1 } }],
  ])('L3: that is said to be done with %s is ambiguous, and not sent again', async (_, answer) => {
    await using lab = await send([{ answer, after: true }]);
    expect(endOf(lab)).toMatchObject({
      cause: 'ambiguous',
      error: expect.stringMatching(/^Telegram said that it was (done|sent), and /),
      attempts: 1,
    });
    expect(lab.server.of('sendMessage')).toHaveLength(1);
  });
});

describe('fault 44: a long message', () => {
  it.each([
    [4_096, 1],
    [4_097, 2],
    [8_192, 2],
    [10_000, 3],
  ])('of %i units is %i messages, in order, and only the first answers', async (length, count) => {
    const text = Array.from({ length: length / 8 }, (_, at) => String(at).padStart(8, 'x')).join(
      '',
    );
    const said = text.padEnd(length, 'y');
    await using lab = await send([], said);
    expect(lab.server.shown.map((one) => one.text).join('')).toBe(said);
    expect(lab.server.shown).toHaveLength(count);
    expect(lab.server.shown.map(({ replyToId }) => replyToId !== undefined)).toEqual(
      Array.from({ length: count }, (_, at) => at === 0),
    );
    const ids = lab.server.shown.map(({ messageId }) => String(messageId));
    expect(endOf(lab)).toMatchObject({
      receipt: { messageId: ids[0], ...(count > 1 && { messageIds: ids }) },
    });
  });

  it('with an emoji at the cut keeps it whole', async () => {
    const said = `${'a'.repeat(4_095)}👩‍👩‍👧${'b'.repeat(20)}`;
    await using lab = await send([], said);
    expect(lab.server.shown.map(({ text }) => text)).toEqual([
      'a'.repeat(4_095),
      `👩‍👩‍👧${'b'.repeat(20)}`,
    ]);
  });

  it('with markup over the cut has it in both', async () => {
    const said = `*a*${'a'.repeat(4_000)} **${'b < '.repeat(100)}end**`;
    await using lab = await send([], said);
    expect(lab.server.shown).toHaveLength(2);
    expect(lab.server.shown.every(({ html }) => html)).toBe(true);
    const last = lab.server.of('sendMessage')[1]?.payload['text'];
    expect(last).toMatch(/^<b>(&lt;|b) .*end<\/b>$/);
  });

  it('that must wait in its middle goes on where it was', async () => {
    const said = `${'a'.repeat(4_096)}${'b'.repeat(10)}`;
    await using lab = await send([{ pass: true }, tooMany(4), tooMany()], said);
    expect(lab.server.shown.map(({ text }) => text[0])).toEqual(['a', 'b']);
    expect(endOf(lab)).toMatchObject({ family: 'egress.sent', attempt: 1 });
  });

  it.each<[string, Fault]>([
    ['403: Forbidden: bot was blocked by the user', blocked],
    ['500: Internal Server Error', internalError],
    ['no readable answer (ECONNRESET)', { reset: true }],
  ])(
    'that breaks off in its middle is told as such (%s), and not sent anew',
    async (why, fault) => {
      await using lab = await send([{ pass: true }, fault], `${'a'.repeat(4_096)}b`);
      expect(lab.server.shown).toHaveLength(1);
      expect(endOf(lab)).toMatchObject({
        cause: 'ambiguous',
        error: `1 of 2 parts were sent; then: ${why}`,
      });
    },
  );
});

describe('fault 44: updates', () => {
  it('that come twice, and in the wrong order, are each taken once and in their order', async () => {
    await using lab = await telegramLab(whole);
    lab.server.deliver = (updates) => [...updates.toReversed(), ...updates];
    const ids = [101, 102, 107, 103]; // with gaps
    await lab.settle(...ids.map((updateId) => messageUpdate({ updateId, text: `t${updateId}` })));
    expect(lab.server.shown.map(({ text }) => text)).toEqual(['t101', 't102', 't103', 't107']);
    await lab.until(() => lab.server.offset === 108, 'all are confirmed');
    expect(lab.ends).toHaveLength(4);
  });

  it.each<[string, Fault]>([
    ['a 500', internalError],
    ['a 502 with a page', { html: 502 }],
    ['a connection that breaks', { reset: true }],
    ['no answer', { hang: true }],
    ['a 429', tooMany(2)],
    ['a 429 that does not say how long', tooMany()],
  ])(
    'are not lost when a poll meets %s',
    async (_, fault) => {
      await using lab = await telegramLab(whole);
      lab.server.fault('getUpdates', fault, fault);
      await lab.settle(messageUpdate({ updateId: 101, text: 'one' }));
      lab.server.fault('getUpdates', fault);
      await lab.settle(messageUpdate({ updateId: 102, text: 'two' }));
      expect(lab.server.shown.map(({ text }) => text)).toEqual(['one', 'two']);
    },
    300_000,
  );

  it.each<[string, unknown]>([
    ['null', { ok: true, result: null }],
    ['an object', { ok: true, result: { update_id: 101 } }],
    ['no result', { ok: true }],
    ['a text', { ok: true, result: 'busy' }],
    ['a list of what is none', { ok: true, result: [null, 7, { update_id: 'x' }] }],
    ['nothing', null],
  ])(
    'L2: are not lost where polls are answered with %s: that is told, and waited for',
    async (_, answer) => {
      await using lab = await telegramLab(whole);
      const sinceMs = lab.clock.monotonicMs();
      const before = lab.server.of('getUpdates').length;
      lab.server.fault('getUpdates', ...Array.from({ length: 4 }, (): Fault => ({ answer })));
      await lab.settle(messageUpdate({ updateId: 101, text: 'one' }));
      expect(lab.server.shown).toMatchObject([{ text: 'one' }]);
      const told = () =>
        lab.log.entries.filter(({ message }) => message.startsWith('no updates from'));
      await lab.until(() => told().length === 4, 'each of them is told');
      const asked = lab.server.of('getUpdates').length;
      await lab.until(() => lab.server.of('getUpdates').length > asked, 'it asks again');
      expect(told().map(({ message }) => /in (\d+) ms$/.exec(message)?.[1])).toEqual(
        ['1000', '2000', '4000', '8000'], // no hot loop
      );
      expect(lab.clock.monotonicMs() - sinceMs).toBeGreaterThanOrEqual(15_000);
      expect(lab.server.of('getUpdates').length - before).toBeLessThan(15);
      expect(lab.host.state).toBe('running');
    },
  );

  it.each<[string, unknown]>([
    ['text', 'soon'],
    ['negative', -5],
    ['null', null],
    ['nothing', 0],
    ['huge', 1e15],
  ])('L2: are waited for where a 429 says junk about how long (%s)', async (_, junk) => {
    await using lab = await telegramLab(whole);
    lab.server.fault('getUpdates', tooMany(junk), tooMany(junk));
    await lab.settle(messageUpdate({ updateId: 101, text: 'one' }));
    const told = () =>
      lab.log.entries.filter(({ message }) => message.startsWith('no updates from'));
    await lab.until(() => told().length === 2, 'each of them is told');
    expect(told().map(({ message }) => Number(/in (\d+) ms$/.exec(message)?.[1]))).toEqual(
      junk === 1e15 ? [3_600_000, 3_600_000] : [1_000, 2_000],
    );
  });

  it('L2: that came already, over and over and at once, are asked for no faster than twice a second', async () => {
    await using lab = await telegramLab(whole);
    const old = messageUpdate({ updateId: 101, text: 'one' });
    lab.server.deliver = (updates) => [old, ...updates];
    await lab.settle(old as { update_id: number });
    const calls = lab.server.of('getUpdates').length;
    const answer = { ok: true, result: [old] };
    lab.server.fault('getUpdates', ...Array.from({ length: 20 }, (): Fault => ({ answer })));
    lab.server.give(messageUpdate({ updateId: 102, text: 'two' }));
    const sinceMs = lab.clock.monotonicMs();
    await lab.until(() => lab.server.of('getUpdates').length > calls + 20, 'it goes on');
    expect(lab.clock.monotonicMs() - sinceMs).toBeGreaterThanOrEqual(9_000);
    await lab.until(() => lab.server.shown.length === 2, 'what is new is answered');
  });

  it('are not lost where what Telegram sends is none', async () => {
    await using lab = await telegramLab(whole);
    lab.server.deliver = (updates) => [{ nothing: true }, null, ...updates];
    await lab.settle(messageUpdate({ updateId: 101, text: 'one' }));
    expect(lab.server.shown).toHaveLength(1);
  });

  it('of a bot that has a webhook are not polled: the account says so, and touches nothing', async () => {
    const prepare = (server: { webhook: unknown }): void => {
      server.webhook = { url: 'https://elsewhere.example/', secret: 's' };
    };
    await expect(telegramLab({ prepare })).rejects.toThrow(/a webhook is set for this bot/);
    await using lab = await telegramLab({
      prepare,
      settings: { replaceWebhook: true, streaming: false },
    });
    expect(lab.server.webhook).toBeUndefined();
    await lab.settle(messageUpdate({ updateId: 101, text: 'one' }));
    expect(lab.server.shown).toHaveLength(1);
  });

  it('wait at Telegram where a webhook is set later on: the account ends, with the reason (409)', async () => {
    await using lab = await telegramLab(whole);
    lab.server.webhook = { url: 'https://elsewhere.example/', secret: 's' };
    lab.server.fault('getUpdates', ...Array.from({ length: 9 }, () => conflict));
    lab.server.give(messageUpdate({ updateId: 101, text: 'one' }));
    await lab.until(() => lab.host.state === 'stopped', 'it stops');
    expect(lab.log.entries.map(({ message }) => message).join('\n')).toMatch(
      /the bot is used elsewhere, too \(409/,
    );
    expect(lab.server.waiting).toHaveLength(1);
  });

  it('come to who polls again after another poller is gone (409)', async () => {
    await using lab = await telegramLab(whole);
    lab.server.fault('getUpdates', conflict, conflict, conflict);
    await lab.settle(messageUpdate({ updateId: 101, text: 'one' }));
    expect(lab.server.shown).toHaveLength(1);
  });

  it('of a bot whose token was taken back end the account, without the token in a word', async () => {
    await using lab = await telegramLab(whole);
    const revoked: Fault = { refuse: 401, description: 'Unauthorized' };
    lab.server.fault('getUpdates', revoked);
    lab.server.give(messageUpdate({ updateId: 101, text: 'one' }));
    lab.server.fault('getUpdates', revoked);
    await lab.until(() => lab.host.state === 'stopped', 'it stops');
    const said = lab.log.entries.map(({ message }) => message).join('\n');
    expect(said).toMatch(/Telegram refuses the bot's token/);
  });
});

describe('fault 44: a topic', () => {
  const inTopic = { message_thread_id: 7, is_topic_message: true };
  const ask = (updateId: number, text: string): { update_id?: number } =>
    messageUpdate({ updateId, text: `@lima_bot ${text}`, chat: forum, more: inTopic });

  it('gets every part of a long answer', async () => {
    await using lab = await telegramLab({ settings: { streaming: false, groupPolicy: 'open' } });
    await lab.settle(ask(101, 'y'.repeat(9_000)));
    expect(lab.server.shown.map(({ threadId }) => threadId)).toEqual([7, 7, 7]);
  });
});

describe('fault 44: an edited message', () => {
  const said = (updateId: number, text: string) => messageUpdate({ updateId, text });
  const edited = (updateId: number, text: string): { update_id?: number } => {
    const { message } = said(101, text) as { message: object };
    return { update_id: updateId, edited_message: { ...message, edit_date: saidAtS + 5 } } as {
      update_id?: number;
    };
  };

  it('is a message of its own that says so, answered once however often it comes', async () => {
    await using lab = await telegramLab(whole);
    lab.server.deliver = (updates) => [...updates, ...updates];
    await lab.settle(said(101, 'hello'), edited(102, 'hello there'), edited(104, 'hello again'));
    expect(lab.server.shown.map(({ text }) => text)).toEqual([
      'hello',
      'hello there',
      'hello again',
    ]);
    expect(lab.of('ingress.normalized').map(({ payload }) => payload.isEdited ?? false)).toEqual([
      false,
      true,
      true,
    ]);
  });

  it('is let be where the settings say so, and is done with', async () => {
    await using lab = await telegramLab({ settings: { streaming: false, edits: 'ignore' } });
    await lab.settle(said(101, 'hello'), edited(102, 'hello there'));
    expect(lab.server.shown.map(({ text }) => text)).toEqual(['hello']);
    expect(lab.ends.map(({ status }) => status).toSorted()).toEqual(['answered', 'ignored']);
    await lab.until(() => lab.server.offset === 103, 'both are confirmed');
  });
});

const conflict: Fault = {
  refuse: 409,
  description: 'Conflict: terminated by other getUpdates request',
};

it('the token is in no log, event, outcome or error, whatever goes wrong (fault 49)', async () => {
  const lab = await telegramLab();
  const { token } = lab.server;
  const faults: Fault[] = [
    { reset: true },
    { html: 502 },
    internalError,
    { refuse: 404, description: `Not Found: /bot${token}/sendMessage` },
    { hang: true },
  ];
  for (const [at, fault] of faults.entries()) {
    lab.server.fault('sendMessage', fault, fault);
    if (!('refuse' in fault)) lab.server.fault('getUpdates', fault);
    await lab.settle(messageUpdate({ updateId: 101 + at, text: 'hello there' }));
  }
  await lab[Symbol.asyncDispose]();
  const secret = token.slice(token.indexOf(':') + 1);
  const seen = [lab.log.entries, lab.ends, lab.outcomes].map((all) => JSON.stringify(all));
  for (const text of seen) {
    expect(text.length).toBeGreaterThan(100);
    expect(text).not.toContain(secret);
  }
  expect(seen[2]).toContain('/bot<token>/sendMessage'); // what held it was told without it
});

/** An agent that echoes, but hangs on one word until it is aborted. */
function hangsOn(word: string): AgentProvider {
  const echo = echoProvider();
  return {
    ...echo,
    async *run(request) {
      if (request.prompt === word)
        await new Promise<void>((resolve) =>
          request.signal.addEventListener('abort', () => resolve(), { once: true }),
        );
      if (!request.signal.aborted) yield* echo.run(request);
    },
  };
}

/** An agent that echoes, and takes its time for one word. */
function slow(word: string, ms: number, clock: VirtualClock): AgentProvider {
  const echo = echoProvider();
  return {
    ...echo,
    async *run(request) {
      if (request.prompt === word) await pause(clock, ms, request.signal);
      yield* echo.run(request);
    },
  };
}

const chat = (id: number) => ({ id, type: 'private', first_name: 'Bob' });

describe('fault 44: a turn that hangs', () => {
  it('H4: without a journal others are answered beside it, however many updates come', async () => {
    await using lab = await telegramLab({
      ...whole,
      agents: [{ id: 'main', provider: hangsOn('hang'), timeoutMs: false }],
    });
    lab.server.give(messageUpdate({ updateId: 101, text: 'hang', chat: chat(7) }));
    const others = Array.from({ length: 250 }, (_, at) =>
      messageUpdate({ updateId: 102 + at, text: 'hi', chat: chat(1_000 + at) }),
    );
    lab.server.give(...others);
    await lab.until(() => lab.ends.length === others.length, 'all others are answered');
    expect(lab.server.shown).toHaveLength(others.length);
    expect(logOf(lab)).toMatch(/confirmed before they are answered/);
    lab.host.abortTurns();
    await lab.until(() => lab.ends.length > others.length, 'the turn is stopped');
  });

  it('H3: of a chat that goes on writing does not keep others from being answered', async () => {
    await using lab = await telegramLab({
      ...whole,
      agents: [{ id: 'main', provider: hangsOn('hang'), timeoutMs: false }],
      failureText: ({ code }) => code,
    });
    const flood = Array.from({ length: 160 }, (_, at) =>
      messageUpdate({ updateId: 101 + at, text: 'hang', chat: chat(7) }),
    );
    const others = Array.from({ length: 10 }, (_, at) =>
      messageUpdate({ updateId: 300 + at, text: 'hi', chat: chat(1_000 + at) }),
    );
    lab.server.give(...flood, ...others);
    await lab.until(
      () => lab.server.shown.filter(({ text }) => text === 'hi').length === others.length,
      'the others are answered',
    );
    await lab.until(() => lab.host.stats().running === 1, 'nothing runs but what hangs');
    expect(lab.host.stats()).toMatchObject({ dropped: 60, received: 170 });
    expect(lab.server.shown.filter(({ text }) => text === 'busy')).toHaveLength(1);
  });

  it.each([160, 2_000])(
    'R2: without a journal %i messages of one chat, whose turns take long, keep no other waiting for three seconds (durability §8.4)',
    async (count) => {
      const clock = virtualClock();
      await using lab = await telegramLab({
        ...{ ...whole, clock },
        agents: [{ id: 'main', provider: slow('slow', 400, clock) }],
      });
      const flood = Array.from({ length: count }, (_, at) =>
        messageUpdate({ updateId: 101 + at, text: 'slow', chat: chat(7) }),
      );
      const others = Array.from({ length: 10 }, (_, at) =>
        messageUpdate({ updateId: 5_000 + at, text: 'hi', chat: chat(1_000 + at) }),
      );
      const startedAtMs = lab.clock.now();
      lab.server.give(...flood, ...others);
      const isAnswered = () =>
        lab.server.shown.filter(({ text }) => text === 'hi').length === others.length;
      await lab.until(isAnswered, 'the others are answered');
      expect(lab.clock.now() - startedAtMs).toBeLessThan(3_000);
      lab.host.abortTurns();
    },
  );

  it('H4: ends after ten minutes where nobody says otherwise; its sender and the log are told', async () => {
    await using lab = await telegramLab({
      ...whole,
      agents: [{ id: 'main', provider: hangsOn('hang') }],
      failureText: ({ code }) => code,
    });
    const startedAtMs = lab.clock.now();
    await lab.settle(messageUpdate({ updateId: 101, text: 'hang' }));
    expect(lab.clock.now() - startedAtMs).toBeGreaterThanOrEqual(600_000);
    expect(lab.server.shown).toMatchObject([{ text: 'timed-out' }]);
    expect(logOf(lab)).toMatch(/could not be answered: timed-out/);
  });

  it('with a journal that cannot be written to, an update is asked for again until it is kept', async () => {
    const journal = mortalJournal(memoryJournal(), (write, nth) =>
      write === 'accept' && nth <= 2 ? new Error('the disk is full') : undefined,
    );
    await using lab = await telegramLab({ ...whole, journal });
    lab.server.give(messageUpdate({ updateId: 101, text: 'hello' }));
    await lab.until(() => lab.server.shown.length === 1, 'it is answered');
    expect(lab.host.stats()).toMatchObject({ refused: 2, received: 3 });
    await lab.until(() => lab.server.offset === 102, 'it is confirmed');
  });
});

function logOf(lab: TelegramLab): string {
  return lab.log.entries.map(({ message }) => message).join('\n');
}
