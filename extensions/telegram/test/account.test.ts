import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Clock, systemClock } from 'sluice';
import { collectingLogger, virtualClock } from 'sluice/testing';
import { afterEach, describe, expect, it } from 'vitest';
import { createBotApi, redactor } from '../src/api/bot-api.js';
import { telegramChannel } from '../src/channel.js';
import { config } from '../src/config.js';
import { PendingUpdates } from '../src/intake/pending-updates.js';
import { startWebhook } from '../src/intake/webhook.js';
import { readToken } from '../src/token.js';

const token = '4839574812:AAFD39kkdpWt3ywyRZergyOLMaJhac60qc';
const open: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of open.splice(0)) await close();
});

describe('the token', () => {
  it('comes from the settings, a file or the environment, and its absence says where it was looked for', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'sluice-token-'));
    open.push(() => rm(folder, { recursive: true }));
    const tokenFile = join(folder, 'token');
    await writeFile(tokenFile, `${token}\n`);
    expect(await readToken({ token }, {})).toBe(token);
    expect(await readToken({ tokenFile }, {})).toBe(token);
    expect(await readToken({ tokenEnv: 'MINE' }, { MINE: token })).toBe(token);
    expect(await readToken({}, { TELEGRAM_BOT_TOKEN: token })).toBe(token);
    await expect(readToken({}, {})).rejects.toThrow('TELEGRAM_BOT_TOKEN holds no token');
    await expect(readToken({ tokenFile: `${tokenFile}x` }, {})).rejects.toThrow(
      /cannot be read \(ENOENT\)/,
    );
    const wrong = await readToken({ token: 'hunter2' }, {}).catch((error: unknown) =>
      String(error),
    );
    expect(wrong).toContain('config holds no token of a bot');
    expect(wrong).not.toContain('hunter2');
  });

  it('is looked at without connecting, as `sluice doctor` asks (§20.5)', async () => {
    const check = async (env: Readonly<Record<string, string>>) =>
      telegramChannel({ config: config.parse({}), env }).checkAccount?.('default');
    await expect(check({})).rejects.toThrow('TELEGRAM_BOT_TOKEN holds no token');
    await expect(check({ TELEGRAM_BOT_TOKEN: 'hunter2' })).rejects.toThrow('no token of a bot');
    await expect(check({ TELEGRAM_BOT_TOKEN: token })).resolves.toBeUndefined();
  });

  it('is taken out of a text in every form', () => {
    const secret = token.slice(11);
    for (const text of [token, encodeURIComponent(token), `/bot${token}/getMe`, secret])
      expect(redactor(token)(`at ${text} it broke`)).not.toContain(secret);
  });
});

describe('the settings', () => {
  it.each<[object, string]>([
    [{ allowedFrom: [42] }, 'allowedFrom'],
    [{ allowFrom: ['a b'] }, 'must be a user id or @name'],
    [{ groups: { friends: {} } }, 'must be a chat id'],
    [{ accounts: {} }, 'must name an account'],
    [{ apiRoot: 'ftp://x' }, 'must be an http address'],
    [{ webhook: { url: 'http://x.example/' } }, 'must be an https address'],
  ])('%j are refused, with what is wrong', (settings, problem) => {
    expect(JSON.stringify(config.safeParse(settings).error?.issues)).toContain(problem);
  });
});

describe('updates that are not done with', () => {
  /** Takes updates at once. @returns whether all of them were new. */
  const take = (pending: PendingUpdates, ids: readonly number[], atMs = 0): boolean =>
    ids.map((id) => pending.take(id, atMs)).every((isNew) => isNew);
  const range = (from: number, to: number) =>
    Array.from({ length: to - from + 1 }, (_, at) => from + at);
  const of = (chat: number, ids: readonly number[]) => ids.map((id) => ({ id, chat }));

  it('hold the offset at the oldest of them, in whatever order they end', () => {
    const pending = new PendingUpdates();
    expect(pending.offset).toBeUndefined();
    expect(take(pending, [5, 6, 8])).toBe(true);
    expect([take(pending, [6]), pending.offset]).toEqual([false, 5]);
    pending.finish(6);
    pending.finish(8);
    expect(pending.offset).toBe(5);
    pending.finish(5);
    expect(pending.offset).toBe(9);
    expect(take(pending, [8])).toBe(false); // given again before it was confirmed
  });

  it('H4: hold it for a second where others wait behind them, and are still not taken twice', () => {
    const pending = new PendingUpdates();
    take(pending, [5, 6, 7]);
    take(pending, [8], 500);
    pending.finish(6);
    const given = of(7, [5, 6, 7, 8]);
    expect([pending.makeRoom(given, 999), pending.offset]).toEqual([0, 5]);
    expect([pending.makeRoom(given, 1_000), pending.offset]).toEqual([2, 8]);
    expect([pending.makeRoom(given, 1_000), pending.offset]).toEqual([0, 8]);
    expect(take(pending, [5])).toBe(false);
    pending.finish(8);
    expect([pending.offset, pending.isHeld]).toEqual([9, false]);
    pending.finish(5);
    expect(pending.offset).toBe(9);
  });

  it('R2: hold it only for the newest ten of each chat where others wait behind them', () => {
    const pending = new PendingUpdates();
    take(pending, range(1, 59));
    const given = [...of(7, [1]), ...of(8, range(2, 50)), ...of(9, range(51, 59))];
    expect([pending.makeRoom(given, 0), pending.offset]).toEqual([40, 41]);
    take(pending, range(60, 100));
    for (const id of range(71, 100)) pending.finish(id); // they take room all the same
    const next = [...of(8, range(41, 50)), ...of(9, range(51, 100))];
    expect([pending.makeRoom(next, 0), pending.offset]).toEqual([30, 101]);
  });

  it('are taken again where the host could not take them in, and never passed over', () => {
    const pending = new PendingUpdates();
    take(pending, [5, 6, 7]);
    pending.refuse(5);
    pending.finish(6);
    expect([pending.makeRoom(of(7, [5, 6, 7]), 5_000), pending.offset]).toEqual([0, 5]);
    expect([take(pending, [6]), take(pending, [5])]).toEqual([false, true]);
    pending.finish(5);
    expect(pending.offset).toBe(7);
  });

  it('are new where Telegram begins to count anew', () => {
    const pending = new PendingUpdates();
    take(pending, [500_000]);
    pending.finish(500_000);
    expect(take(pending, [17])).toBe(true);
    pending.finish(17);
    expect(pending.offset).toBe(18);
  });
});

describe('the Bot API through grammY', () => {
  /** A server that answers every call so. */
  async function answering(
    ...answers: readonly { readonly status: number; readonly body: unknown }[]
  ) {
    const seen: string[] = [];
    const server = createServer((request, response) => {
      const { status, body } = answers[Math.min(seen.length, answers.length - 1)] ?? {
        status: 500,
        body: {},
      };
      seen.push(request.url ?? '');
      request.resume().on('end', () => response.writeHead(status).end(JSON.stringify(body)));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    open.push(async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    });
    const { port } = server.address() as AddressInfo;
    return {
      seen,
      api: createBotApi({ token, apiRoot: `http://127.0.0.1:${port}`, clock: systemClock }),
    };
  }
  const busy = {
    status: 429,
    body: { ok: false, error_code: 429, description: 'x', parameters: { retry_after: 0 } },
  };

  it('makes no call again by itself', async () => {
    const once = await answering(busy);
    expect(await once.api.call('sendMessage', { chat_id: 1, text: 'x' })).toEqual({
      status: 'refused',
      code: 429,
      reason: '429: x',
    });
    expect(once.seen).toHaveLength(1);
  });

  it.each<[unknown, number | undefined]>([
    [3, 3_000],
    [0.2, 1_000],
    [0, undefined],
    [-5, undefined],
    ['soon', undefined],
    ['7', undefined],
    [null, undefined],
    [[9], undefined],
    [1e300, 3_600_000],
  ])('L2: reads a retry_after of %j as a wait of %j ms', async (retryAfter, waitMs) => {
    const parameters = { retry_after: retryAfter, migrate_to_chat_id: 'elsewhere' };
    const body = { ok: false, error_code: 429, description: 'x', parameters };
    const { api } = await answering({ status: 429, body });
    const answer = await api.call('sendMessage', { chat_id: 1, text: 'x' });
    expect(answer).toMatchObject({ status: 'refused', code: 429 });
    expect(answer).toHaveProperty('status', 'refused');
    expect('retryAfterMs' in answer ? answer.retryAfterMs : undefined).toBe(waitMs);
    expect(answer).not.toHaveProperty('movedTo');
  });

  it.each<[string, unknown]>([
    ['no result', { ok: true }],
    ['a result of null', { ok: true, result: null }],
    ['a refusal without a code', { ok: false }],
    ['a code that is none', { ok: false, error_code: 'x', description: {} }],
    ['nothing', null],
    ['a number', 7],
  ])('L3: does not know how a call ended that was answered with %s', async (_, body) => {
    const { api } = await answering({ status: 200, body });
    const answer = await api.call('sendMessage', { chat_id: 1, text: 'x' });
    expect(answer).toMatchObject({ status: 'unknown', reason: expect.any(String) });
  });

  it('knows that a call which found nobody was not made', async () => {
    const api = createBotApi({ token, apiRoot: 'http://127.0.0.1:9', clock: systemClock });
    expect(await api.call('sendMessage', { chat_id: 1, text: 'x' })).toEqual({
      status: 'unreached',
      reason: 'no connection (ECONNREFUSED)',
    });
  });
});

describe('a webhook', () => {
  async function webhook(
    onTake: (id: number) => Promise<'refused' | undefined> = async () => undefined,
    clock: Clock = systemClock,
  ) {
    const taken: number[] = [];
    const log = collectingLogger();
    const intake = await startWebhook({
      host: '127.0.0.1',
      port: 0,
      path: '/telegram',
      secret: 'a-secret-of-tests',
      clock,
      log,
      sink: {
        take: async ({ update_id: id }) => {
          taken.push(id);
          return onTake(id);
        },
        ended: () => undefined,
      },
    });
    open.push(() => intake.close());
    const post = (
      body: unknown,
      headers: Record<string, string> = { 'x-telegram-bot-api-secret-token': 'a-secret-of-tests' },
      path = '/telegram',
    ) =>
      fetch(`http://127.0.0.1:${intake.port}${path}`, {
        method: 'POST',
        headers,
        body: typeof body === 'string' ? body : JSON.stringify(body),
      }).then(({ status }) => status);
    return { intake, taken, log, post };
  }

  it('refuses what comes without the secret, or with another, and says so', async () => {
    const { post, taken, log } = await webhook();
    expect(await post({ update_id: 1 }, {})).toBe(401);
    expect(await post({ update_id: 1 }, { 'x-telegram-bot-api-secret-token': 'other' })).toBe(401);
    expect(taken).toEqual([]);
    expect(log.entries).toMatchObject([
      { message: 'requests were refused', fields: { receiver: 'telegram' } },
    ]);
  });

  it('answers an update when it is done with, also one that Telegram brings twice meanwhile', async () => {
    const { post, taken, intake } = await webhook();
    let answers = 0;
    const both = [post({ update_id: 1 }), post({ update_id: 1 })].map((answer) =>
      answer.then((status) => {
        answers++;
        return status;
      }),
    );
    while (taken.length === 0) await new Promise((resolve) => setImmediate(resolve));
    await post({ update_id: 2 }, {}); // another comes and goes meanwhile
    expect(answers).toBe(0);
    intake.finish(1);
    const late = post({ update_id: 1 });
    expect(await Promise.all(both)).toEqual([200, 200]);
    expect(await late).toBe(200);
    expect(taken).toEqual([1]);
  });

  it('H4: answers an update that is not done with after two seconds, and says so: others must come', async () => {
    const clock = virtualClock();
    const { post, taken, intake, log } = await webhook(undefined, clock);
    const hung = post({ update_id: 1 });
    while (taken.length === 0) await new Promise((resolve) => setImmediate(resolve));
    await clock.advance(2_000);
    expect(await hung).toBe(200);
    expect(log.entries).toMatchObject([
      { message: expect.stringMatching(/before it is answered/) },
    ]);
    intake.finish(1);
    expect(await post({ update_id: 1 })).toBe(200);
    expect([taken, clock.pending]).toEqual([[1], 0]);
  });

  it('R2: answers the oldest of a chat of which more than four wait, so that others find a connection', async () => {
    const { post, taken, intake } = await webhook();
    const of = (id: number, chat: number) => ({ update_id: id, message: { chat: { id: chat } } });
    const answered: number[] = [];
    const bring = async (id: number, chat: number): Promise<void> => {
      const status = post(of(id, chat)).then((code) => code === 200 && answered.push(id));
      while (!taken.includes(id)) await new Promise((resolve) => setImmediate(resolve));
      void status;
    };
    await bring(1, 8);
    for (const id of [2, 3, 4, 5, 6, 7]) await bring(id, 7);
    while (answered.length < 2) await new Promise((resolve) => setImmediate(resolve));
    intake.finish(1);
    while (answered.length < 3) await new Promise((resolve) => setImmediate(resolve));
    expect(answered).toEqual([2, 3, 1]);
    await intake.close();
  });

  it('answers nothing before the host has it, however long that takes: it may be refused', async () => {
    const clock = virtualClock();
    let refuse = (_: 'refused'): void => {};
    const { post, taken } = await webhook(
      () =>
        new Promise((resolve) => {
          refuse = resolve;
        }),
      clock,
    );
    const answer = post({ update_id: 1 });
    while (taken.length === 0) await new Promise((resolve) => setImmediate(resolve));
    await clock.advance(10_000);
    refuse('refused');
    expect(await answer).toBe(503);
  });

  it('has Telegram bring again what the host could not take in', async () => {
    let times = 0;
    const { post, taken, intake } = await webhook(async () =>
      ++times === 1 ? 'refused' : undefined,
    );
    expect(await post({ update_id: 1 })).toBe(503);
    const again = post({ update_id: 1 });
    while (taken.length < 2) await new Promise((resolve) => setImmediate(resolve));
    intake.finish(1);
    expect(await again).toBe(200);
  });

  it('takes nothing that is no update, too long or elsewhere', async () => {
    const { post, taken } = await webhook();
    expect(await post('{')).toBe(400);
    expect(await post({ nothing: true })).toBe(400);
    expect(await post('x'.repeat(1_100_000))).toBe(413);
    expect(await post({ update_id: 1 }, {}, '/elsewhere')).toBe(404);
    expect(taken).toEqual([]);
  });

  it('has Telegram bring again what was not done with when it closes', async () => {
    const { post, intake, taken } = await webhook();
    const pending = post({ update_id: 1 });
    while (taken.length === 0) await new Promise((resolve) => setImmediate(resolve));
    await intake.stop();
    expect(await post({ update_id: 2 })).toBe(503);
    await intake.close();
    expect(await pending).toBe(503);
  });
});
