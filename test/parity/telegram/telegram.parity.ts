import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { config } from '../../../extensions/telegram/src/config.js';
import { decodeUpdate } from '../../../extensions/telegram/src/ingress/decode.js';
import { loadLegacyPlugin } from '../../../src/openclaw/index.js';
import { hostLab } from '../../support/host-lab.js';
import { openClawModule } from '../../support/openclaw-modules.js';
import { openClawPackage } from '../../support/openclaw-package.js';
import { scriptedChannel } from '../../support/scripted-channel.js';
import { end, said, scripted, start } from '../../support/turn-lab.js';
import { differencesOf, type FieldDifference, type Heard } from './heard.js';
import { telegramRows } from './rows.js';
import { messages, replies, type TelegramMessage } from './updates.js';

const inboundCases = 2_000;
const outboundCases = 300;
const seed = 20_260_313;
const { root } = await openClawPackage();

const bot = { id: 7, username: 'lima_bot' };
const settings = config.parse({ requireMention: false });
const explained = new Set<string>();

/** What is left of the differences when each has a row. */
function unexplained(differences: readonly FieldDifference[]): FieldDifference[] {
  return differences.filter((one) => {
    const row = telegramRows.find(
      ({ name, fields }) => fields[one.hook]?.includes(one.path) === true && fits(name, one),
    );
    if (row !== undefined) explained.add(row.name);
    return row === undefined;
  });
}

/** A row excuses exactly what it is about, not every value of a field. */
function fits(name: string, { real, ours }: FieldDifference): boolean {
  switch (name) {
    case 'one-address':
      return ours === `telegram:${String(real)}`;
    case 'media-is-attached':
      return /^<media:\w+>$/.test(String(real)) && ours === '';
    case 'system-markers':
      return String(ours).replace('[System]', '(System)') === real;
    case 'account-and-media':
      return real === undefined || JSON.stringify(real) === '[]';
    default:
      return real === undefined;
  }
}

/** What the real channel calls message_received with. */
async function realReceived(message: TelegramMessage): Promise<Heard> {
  const telegram = await contextModule;
  const mappers = await mappersModule;
  const {
    chat,
    from,
    message_thread_id: thread,
  } = message as {
    chat: { id: number; type: string; is_forum?: boolean };
    from: { id: number; username?: string };
    message_thread_id?: number;
  };
  const isGroup = chat.type !== 'private';
  const isForum = chat.is_forum === true;
  const threadSpec = telegram.resolveTelegramThreadSpec({
    isGroup,
    isForum,
    messageThreadId: thread,
  });
  const parts = telegram.getTelegramTextParts(message);
  const text = String(telegram.expandTextLinks(parts.text, parts.entities)).trim();
  const rawBody = text || String(telegram.resolveTelegramMediaPlaceholder(message) ?? '');
  const { ctxPayload } = await telegram.buildTelegramInboundContextPayload({
    cfg: {},
    primaryCtx: { me: { username: bot.username } },
    msg: message,
    allMedia: [],
    replyMedia: [],
    isGroup,
    isForum,
    chatId: chat.id,
    senderId: String(from.id),
    senderUsername: from.username ?? '',
    resolvedThreadId: isForum ? threadSpec.id : undefined,
    dmThreadId: isGroup ? undefined : threadSpec.id,
    threadSpec,
    route: { agentId: 'main', accountId: 'default', sessionKey: 'k', mainSessionKey: 'k' },
    rawBody,
    bodyText: rawBody,
    historyLimit: 0,
    groupHistories: new Map(),
    commandAuthorized: true,
  });
  const canonical = mappers.deriveInboundMessageHookContext(ctxPayload);
  return {
    hook: 'message_received',
    event: mappers.toPluginMessageReceivedEvent(canonical),
    ctx: mappers.toPluginMessageContext(canonical),
  };
}

const contextModule =
  root === undefined ? (undefined as never) : openClawModule(root, 'telegramContext');
const mappersModule =
  root === undefined ? (undefined as never) : openClawModule(root, 'messageMappers');

type Answer = { readonly content?: string; readonly cancel?: boolean } | undefined;

/** Our channel's decoding, the host and the bridge: what a legacy plugin hears of a message and its answer. */
async function oursHeard(
  message: TelegramMessage,
  reply: {
    readonly text: string;
    readonly mediaUrls: readonly string[];
    readonly failure?: string | undefined;
    readonly hook?: Answer;
  } = { text: '', mediaUrls: [] },
): Promise<readonly Heard[]> {
  const heard: Heard[] = [];
  const plugin = {
    id: 'listener',
    register: (api: {
      on(hook: string, handler: (event: unknown, ctx: unknown) => unknown): void;
    }) => {
      for (const hook of ['message_received', 'message_sending', 'message_sent'] as const)
        api.on(hook, (event, ctx) => {
          heard.push({ hook, event: structuredClone(event), ctx: structuredClone(ctx) });
          return hook === 'message_sending' ? reply.hook : undefined;
        });
    },
  };
  const media = reply.mediaUrls.map((url) => `\nMEDIA:${url}`).join('');
  const provider = scripted(async function* () {
    yield start;
    if (reply.text !== '') yield* said(`${reply.text}${media}`);
    yield end();
  });
  const channel = scriptedChannel({
    id: 'telegram',
    decode: (raw) =>
      decodeUpdate({ update_id: 1, message: raw }, { accountId: 'default', bot, config: settings }),
    send: async (permit) => {
      permit.take();
      return reply.failure === undefined
        ? { status: 'sent', receipt: { messageId: '99' } }
        : { status: 'rejected', reason: reply.failure };
    },
  });
  await using lab = await hostLab({
    channel,
    agents: [{ id: 'main', provider }],
    failureText: () => undefined,
    loadPlugins: (kernel) => [
      loadLegacyPlugin(plugin, { pluginId: 'listener', config: {}, kernel }),
    ],
  });
  await lab.say(message as never);
  return heard;
}

describe.skipIf(root === undefined)('the Telegram channel beside the real one', () => {
  it('tells plugins the same of what comes in, but for named rows', async () => {
    let compared = 0;
    await fc.assert(
      fc.asyncProperty(messages, async (message) => {
        const real = await realReceived(message);
        const decoded = decodeUpdate(
          { update_id: 1, message },
          { accountId: 'default', bot, config: settings },
        );
        expect(decoded.kind).toBe('message');
        const [ours] = await oursHeard(message);
        if (ours === undefined) throw new Error('nothing was heard');
        expect(unexplained(differencesOf(real, ours))).toEqual([]);
        compared++;
      }),
      { seed, numRuns: inboundCases },
    );
    console.log(`telegram: ${compared} messages compared, seed ${seed}`);
    expect(compared).toBeGreaterThanOrEqual(inboundCases);
  }, 600_000);

  it('tells plugins the same of what goes out, and does the same with their answers, but for named rows', async () => {
    const telegram = await openClawModule(root as string, 'telegramReplies');
    let compared = 0;
    await fc.assert(
      fc.asyncProperty(messages, replies, async (message, reply) => {
        const { chat, message_thread_id: thread } = message as {
          chat: { id: number; type: string; is_forum?: boolean };
          message_thread_id?: number;
        };
        const isGroup = chat.type !== 'private';
        const spec = (await contextModule).resolveTelegramThreadSpec({
          isGroup,
          isForum: chat.is_forum === true,
          messageThreadId: thread,
        });
        const real: Heard[] = [];
        const hear = (hook: Heard['hook']) => async (event: unknown, ctx: unknown) => {
          real.push({ hook, event: structuredClone(event), ctx: structuredClone(ctx) });
          return hook === 'message_sending' ? reply.hook : undefined;
        };
        telegram.outside.hookRunner = {
          hasHooks: () => true,
          runMessageSending: hear('message_sending'),
          runMessageSent: hear('message_sent'),
        };
        telegram.outside.send = async () => {
          if (reply.failure !== undefined) throw new Error(reply.failure);
          return 99;
        };
        await telegram
          .deliverReplies({
            replies: [{ text: reply.text, mediaUrls: reply.mediaUrls }],
            chatId: String(chat.id),
            accountId: 'default',
            token: 't',
            runtime: {},
            bot: { api: {} },
            replyToMode: 'off',
            textLimit: 4_000,
            thread: spec,
          })
          .catch((error: unknown) => {
            if (reply.failure === undefined) throw error;
          });
        const ours = (await oursHeard(message, reply)).filter(
          ({ hook }) => hook !== 'message_received',
        );
        expect(ours.map(({ hook }) => hook)).toEqual(real.map(({ hook }) => hook));
        for (const [at, one] of real.entries()) {
          const other = ours[at];
          if (other === undefined) throw new Error('fewer were heard');
          expect(unexplained(differencesOf(one, other))).toEqual([]);
          compared++;
        }
      }),
      { seed, numRuns: outboundCases },
    );
    console.log(`telegram: ${compared} calls about replies compared, seed ${seed}`);
    expect(compared).toBeGreaterThan(outboundCases);
  }, 600_000);

  it('differs nowhere but in rows, and each row is about something', () => {
    expect([...explained].toSorted()).toEqual(telegramRows.map(({ name }) => name).toSorted());
  });
});
