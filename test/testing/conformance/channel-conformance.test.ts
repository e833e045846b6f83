import { describe, expect, it } from 'vitest';
import { slackChannel } from '../../../extensions/slack/src/channel.js';
import { config as slackConfig } from '../../../extensions/slack/src/config.js';
import { telegramChannel } from '../../../extensions/telegram/src/channel.js';
import { config } from '../../../extensions/telegram/src/config.js';
import { systemClock } from '../../../src/kernel/internal.js';
import { type ChannelPlugin, consoleChannel } from '../../../src/sdk/channel/index.js';
import {
  type ChannelUnderTest,
  channelConformance,
  collectingLogger,
  fakeChannel,
} from '../../../src/testing/index.js';
import { botApiServer } from '../../support/bot-api/bot-api.js';
import { blocked, tooMany } from '../../support/bot-api/fault.js';
import { messageUpdate } from '../../support/bot-api/updates.js';
import { said } from '../../support/slack-api/envelopes.js';
import { slackServer } from '../../support/slack-api/slack-server.js';

/** A fake channel as a subject; `wrong` makes it break a rule. */
function fake(
  wrong: (channel: ReturnType<typeof fakeChannel>) => Partial<ChannelPlugin> = () => ({}),
) {
  return (): ChannelUnderTest => {
    const plain = fakeChannel({ deduplicatesSends: true });
    return {
      channel: { ...plain, ...wrong(plain) },
      to: 'fake:ada',
      deliver: (text, updateId) => void plain.receive({ text }, updateId),
      shown: () => plain.sent.map(({ content }) => content),
      failNext: (how) =>
        plain.next(
          how === 'retry-after'
            ? { status: how, retryAfterMs: 1_000 }
            : { status: how, reason: 'so it goes' },
        ),
    };
  };
}

/** A queue of lines, as a person types them. */
function typed() {
  const lines: string[] = [];
  let wake: () => void = () => undefined;
  return {
    type: (line: string) => {
      lines.push(line);
      wake();
    },
    async *[Symbol.asyncIterator]() {
      for (;;) {
        const line = lines.shift();
        if (line !== undefined) yield line;
        else
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
      }
    },
  };
}

function onConsole(): ChannelUnderTest {
  const lines = typed();
  const shown: string[] = [];
  return {
    channel: consoleChannel({ lines, write: (text) => void shown.push(text.trimEnd()) }),
    to: 'console:local',
    deliver: (text) => lines.type(text),
    shown: () => shown,
  };
}

async function onTelegram(): Promise<ChannelUnderTest> {
  const server = await botApiServer();
  const ids: string[] = [];
  const channel = telegramChannel({
    config: config.parse({ apiRoot: server.url }),
    clock: systemClock,
    log: collectingLogger(),
    env: { TELEGRAM_BOT_TOKEN: server.token },
  });
  return {
    channel,
    to: '42',
    deliver: (text, updateId) => {
      if (!ids.includes(updateId)) ids.push(updateId);
      server.give(messageUpdate({ updateId: 100 + ids.indexOf(updateId), text }));
    },
    shown: () => server.shown.map(({ text }) => text),
    failNext: (how) =>
      server.fault(
        'sendMessage',
        how === 'ambiguous'
          ? { reset: true, after: true }
          : how === 'rejected'
            ? blocked
            : tooMany(3),
      ),
    [Symbol.asyncDispose]: async () => {
      const [accountId = ''] = channel.accounts;
      await channel.stopIntake(accountId);
      await channel.stopAccount(accountId);
      await server[Symbol.asyncDispose]();
    },
  };
}

async function onSlack(): Promise<ChannelUnderTest> {
  const server = await slackServer();
  const ids: string[] = [];
  const channel = slackChannel({
    config: slackConfig.parse({ apiRoot: server.url, resend: true }),
    clock: systemClock,
    log: collectingLogger(),
    env: { SLACK_BOT_TOKEN: server.app.botToken, SLACK_APP_TOKEN: server.app.appToken },
  });
  return {
    channel,
    to: 'D001',
    deliver: (text, updateId) => {
      if (!ids.includes(updateId)) ids.push(updateId);
      server.give(said(1 + ids.indexOf(updateId), text));
    },
    shown: () => server.shown.map(({ text }) => text),
    failNext: (how) =>
      server.fault(
        'chat.postMessage',
        how === 'ambiguous'
          ? { reset: true, after: true }
          : how === 'rejected'
            ? { error: 'is_archived' }
            : { tooMany: 3 },
      ),
    [Symbol.asyncDispose]: async () => {
      const [accountId = ''] = channel.accounts;
      await channel.stopIntake(accountId);
      await channel.stopAccount(accountId);
      await server[Symbol.asyncDispose]();
    },
  };
}

describe.each([
  ['the fake channel', fake()],
  ['the console', onConsole],
  ['telegram, with the real grammY on a loopback Bot API', onTelegram],
  ["slack, with Slack's own libraries on a loopback Slack", onSlack],
])('%s', (_, make) => {
  for (const { name, run } of channelConformance(make)) it(name, run);
});

/** A channel that brings one update after the other, and at its end waits for the host to have taken the last. */
function inTurn(made: ReturnType<typeof fakeChannel>[] = []): () => ChannelUnderTest {
  return () => {
    const channel = fakeChannel({ canWait: true });
    made.push(channel);
    let bringing: Promise<unknown> = Promise.resolve();
    return {
      channel,
      to: 'fake:ada',
      deliver: (text, updateId) => {
        bringing = bringing.then(() => channel.receive({ text }, updateId));
      },
      shown: () => channel.sent.map(({ content }) => content),
      [Symbol.asyncDispose]: async () => void (await bringing),
    };
  };
}

describe('the kit', () => {
  it('answers each `receive` in the end, and leaves no account running', async () => {
    const made: ReturnType<typeof fakeChannel>[] = [];
    expect(await brokenRules(inTurn(made), { timeoutMs: 60_000 })).toEqual({});
    expect(made.flatMap(({ running }) => [...running])).toEqual([]);
  });

  it('says that an account does not start, also if time has to pass, and leaves no rejection', async () => {
    const unhandled: unknown[] = [];
    const hear = (reason: unknown) => unhandled.push(reason);
    process.on('unhandledRejection', hear);
    const broken = fake(() => ({
      startAccount: async () => {
        throw new Error('no token');
      },
    }));
    const settle = () => new Promise((resolve) => setImmediate(resolve));
    const said = await brokenRules(() => ({ ...broken(), settle }));
    process.off('unhandledRejection', hear);
    expect(said['hands over what people write, in order']).toBe(
      'startAccount threw: Error: no token',
    );
    expect(unhandled).toEqual([]);
  });
});

/** The rules that a subject breaks, each with how, or only the one that is named. Only one that hangs takes the time. */
async function brokenRules(
  make: () => ChannelUnderTest,
  { only, timeoutMs = 2_000 }: { readonly only?: string; readonly timeoutMs?: number } = {},
): Promise<Record<string, string>> {
  const said: Record<string, string> = {};
  const checks = channelConformance(make, { timeoutMs });
  for (const { name, run } of checks.filter((one) => only === undefined || one.name === only))
    await run().catch((error: Error) => {
      said[name] = error.message;
    });
  return said;
}

describe('a channel that is wrong fails, for its own reason', () => {
  const decoded = { kind: 'ignored', reason: 'x' } as const;
  let count = 0;
  it.each<[string, ReturnType<typeof fake>, string, RegExp]>([
    [
      'that gives every update a new id',
      fake(({ startAccount }) => ({
        startAccount: (accountId, inbox) =>
          startAccount(accountId, {
            ...inbox,
            receive: (update) => inbox.receive({ ...update, updateId: `new-${++count}` }),
          }),
      })),
      'gives an update the same id whenever it comes',
      /one update came with the ids new-\d+ and new-\d+/,
    ],
    [
      'that gives every update one id',
      fake(({ startAccount }) => ({
        startAccount: (accountId, inbox) =>
          startAccount(accountId, {
            ...inbox,
            receive: (update) => inbox.receive({ ...update, updateId: 'same' }),
          }),
      })),
      'gives two updates two ids',
      /two updates have the id same/,
    ],
    [
      'that throws at what it cannot decode',
      fake(({ decodeIngress }) => ({
        decodeIngress: (raw, accountId) => {
          if (raw === null) throw new TypeError('no text of null');
          return decodeIngress(raw, accountId);
        },
      })),
      'decodes anything, and never throws',
      /decodeIngress of null threw: TypeError: no text of null/,
    ],
    [
      'that decodes with a counter',
      fake(({ decodeIngress }) => ({
        decodeIngress: (raw, accountId) => {
          const one = decodeIngress(raw, accountId);
          if (one.kind !== 'message') return decoded;
          const messageId = `m-${++count}`;
          return { ...one, message: { ...one.message, messageId } };
        },
      })),
      'decodes without a trace: twice gives the same, and nothing is written',
      /decodeIngress gave .* and then .*, of one update/,
    ],
    [
      'that says sent and sends nothing',
      fake(() => ({ send: async () => ({ status: 'sent', receipt: {} }) })),
      'sends the message of its permit, once',
      /did not take/,
    ],
    [
      'that cuts long texts',
      fake((plain) => ({
        send: async (permit) => {
          const message = permit.take();
          plain.sent.push({ ...message, content: message.content.slice(0, 4_096) });
          return { status: 'sent', receipt: {} };
        },
      })),
      'keeps every word of a long text',
      /\d+ of 3000 words are missing, word\d+ first/,
    ],
    [
      'that throws where it should say retry-after',
      fake(({ send }) => ({
        send: async (permit, context) => {
          const result = await send(permit, context);
          if (result.status === 'retry-after') throw new Error('429');
          return result;
        },
      })),
      'says `retry-after` with a time if the provider asks to wait',
      /the provider's answer was retry-after, and the channel said .*"ambiguous"/,
    ],
    [
      'that waits for the host before it sends',
      fake(({ startAccount, send }) => {
        let busy: Promise<unknown> = Promise.resolve();
        return {
          startAccount: (accountId, inbox) =>
            startAccount(accountId, {
              ...inbox,
              receive: (update) => {
                const taken = inbox.receive(update);
                busy = taken;
                return taken;
              },
            }),
          send: async (permit, context) => {
            await busy;
            return send(permit, context);
          },
        };
      }),
      'sends while the host takes an update in',
      /send did not settle within \d+ ms/,
    ],
    [
      'that says that it can wait, and does not',
      fake(({ capabilities }) => ({ capabilities: { ...capabilities, canWait: true } })),
      'waits for `receive` before it brings more, if it says that it can wait',
      /it called `receive` again/,
    ],
    [
      'that says that it drops doubles, and does not',
      fake((plain) => ({
        send: async (permit) => {
          plain.sent.push(permit.take());
          return { status: 'sent', receipt: {} };
        },
      })),
      'shows a message once that is sent again under its key, if it says that it drops doubles',
      /people see it 2 times, and it has one key/,
    ],
    [
      'that cannot be stopped twice',
      fake(() => {
        let stopped = false;
        return {
          stopAccount: async () => {
            if (stopped) throw new Error('it was closed before');
            stopped = true;
          },
        };
      }),
      'stops, also twice',
      /stopAccount, called again threw: Error: it was closed before/,
    ],
    [
      'that stops to send when its intake stops',
      fake(({ send }) => {
        let open = true;
        return {
          stopIntake: async () => {
            open = false;
          },
          send: async (permit, context) =>
            open ? send(permit, context) : { status: 'rejected', reason: 'it is closed' },
        };
      }),
      'takes nothing more in after `stopIntake`, and still sends',
      /a send after `stopIntake` ended as rejected|it handed an update over/,
    ],
  ])('%s', async (_, make, rule, how) => {
    const said = await brokenRules(make, { only: rule });
    expect(said[rule]).toMatch(how);
  });
});
