import { describe, expect, it } from 'vitest';
import { parseAddress } from '../src/address.js';
import { slackChannel } from '../src/channel.js';
import { config } from '../src/config.js';
import { decodeUpdate } from '../src/ingress/decode.js';
import { redact } from '../src/secrets.js';

const bot = 'xoxb-1234567890-abc';
const app = 'xapp-1-1234567890-abc';

describe('the secrets of an account', () => {
  it.each([
    ['SLACK_BOT_TOKEN is not set', {}, {}],
    ['SLACK_APP_TOKEN is not set', { SLACK_BOT_TOKEN: bot }, {}],
    [
      'SLACK_BOT_TOKEN is not a bot token of Slack',
      { SLACK_BOT_TOKEN: app, SLACK_APP_TOKEN: app },
      {},
    ],
    ['MINE is not set', { SLACK_APP_TOKEN: app }, { botTokenEnv: 'MINE' }],
    ['config.botToken is not a bot token of Slack', {}, { botToken: 'hunter2' }],
    ['SLACK_SIGNING_SECRET is not set', { SLACK_BOT_TOKEN: bot }, { events: {} }],
  ])('%s, says the account, and not what it found', async (text, env, account) => {
    const channel = slackChannel({ config: config.parse({ accounts: { default: account } }), env });
    const problem = await Promise.resolve(channel.checkAccount?.('default')).catch(String);
    expect(problem).toContain(text);
    expect(problem).not.toMatch(/hunter2|1234567890/);
  });

  it('are taken out of texts, and so are the tickets of connections', () => {
    expect(redact(`${bot} of wss://x.y/link?ticket=abc-def&a=1 with ${app}`)).toBe(
      '<token> of wss://x.y/link?ticket=<token>&a=1 with <token>',
    );
  });
});

describe('the settings', () => {
  it.each([
    { allowFrom: ['@ada'] },
    { channels: { general: {} } },
    { accounts: {} },
    { accounts: { one: { token: bot } } },
    { slashCommand: 'sluice' },
    { assistant: { prompts: Array.from({ length: 5 }, () => ({ title: 't', message: 'm' })) } },
  ])('refuse %j', (wrong) => {
    expect(config.safeParse(wrong).success).toBe(false);
  });

  it.each([
    ['C012AB3CD', { channel: 'C012AB3CD' }],
    ['slack:channel:C012AB3CD', { channel: 'C012AB3CD' }],
    ['user:U012AB3CD', { channel: 'U012AB3CD' }],
    ['C012AB3CD:1700000000.000100', { channel: 'C012AB3CD', threadTs: '1700000000.000100' }],
    ['general', undefined],
    ['#general', undefined],
    ['', undefined],
  ])('%s is an address or none', (to, address) => {
    expect(parseAddress(to)).toEqual(address);
  });
});

describe('who may write on Slack', () => {
  const kindOf = (settings: object, said: object): string => {
    const event = {
      type: 'message',
      channel: 'C001',
      user: 'U001',
      text: 'hi',
      ts: '1.1',
      ...said,
    };
    const context = {
      accountId: 'default',
      bot: { userId: 'UBOT', name: 'sluice' },
      config: config.parse(settings),
    };
    const decoded = decodeUpdate({ type: 'events_api', body: { event } }, context);
    return decoded.kind === 'ignored' ? decoded.reason : decoded.kind;
  };

  it.each<[string, object, object]>([
    ['it does not name the bot', {}, {}],
    ['message', {}, { text: '<@UBOT> hi' }],
    ['message', {}, { parent_user_id: 'UBOT', thread_ts: '1.0' }],
    ['message', { requireMention: false }, {}],
    ['message', { channels: { C001: { requireMention: false } } }, {}],
    ['its group is not allowed', { channels: { C002: {} }, requireMention: false }, {}],
    [
      'its sender is not allowed in this group',
      { channels: { C001: { allowFrom: ['U002'] } } },
      { text: '<@UBOT>' },
    ],
    ['groups are off', { channelPolicy: 'disabled' }, { text: '<@UBOT>' }],
    ['its sender is not allowed', { allowFrom: ['U002'] }, { channel: 'D001' }],
    ['message', { allowFrom: ['U001'] }, { channel: 'D001' }],
    ['private messages are off', { dmPolicy: 'disabled' }, { channel: 'D001' }],
    ['a message of a bot', { requireMention: false }, { user: 'UBOT' }],
  ])('%s: %j %j', (result, settings, said) => {
    expect(kindOf(settings, said)).toBe(result);
  });
});
