import { describe, expect, it, vi } from 'vitest';
import { loadLegacyPlugin } from '../../../src/openclaw/index.js';
import { mostSearched, StandIns, tooMany } from '../../../src/openclaw/plugin/api/refusals.js';
import { collectingLogger } from '../../../src/testing/index.js';
import { hostLab } from '../../support/host-lab.js';

/** A member of `api.runtime` that is not there: whatever a plugin reads of it can be called. */
interface Absent {
  (...args: readonly unknown[]): Absent;
  readonly [member: string]: Absent;
}

interface Api {
  readonly runtime: { readonly [part: string]: Absent };
  readonly logger: { info(message: string): void };
  on(hook: string, handler: (event: { readonly content?: string }) => unknown): void;
  registerCommand(command: object): void;
  registerChannel(channel: object): void;
  registerHook(event: string, handler: unknown, options: object): void;
}

const flight = { channel: 'pigeon', accountId: 'default', to: 'ada', content: 'coo' };

/** A host with one plugin, and what the plugin's channel was given to send. */
async function labOf(register: (api: Api, sent: unknown[]) => void) {
  const sent: unknown[] = [];
  const logger = collectingLogger();
  const lab = await hostLab({
    loadPlugins: (kernel) => [
      loadLegacyPlugin((api: Api) => register(api, sent), {
        kernel,
        logger,
        pluginId: 'acme',
        config: { hooks: { internal: { enabled: true } } },
      }),
    ],
  });
  return { lab, sent, logger };
}

/** A channel of which a test says how it sends. */
function channelOf(outbound: object): object {
  return { id: 'pigeon', outbound };
}

describe('D1: what a member that is not there gives is never sent, answered or chosen', () => {
  it('not as the chunks of a text: nothing is sent, and the send has failed and names the member', async () => {
    const { lab, sent } = await labOf((api, given) =>
      api.registerChannel(
        channelOf({
          textChunkLimit: 10,
          chunker: (text: string, limit: number) =>
            api.runtime['channel']?.['slack']?.['chunk']?.(text, limit),
          sendText: async (context: object) => {
            given.push(context);
            return { messageId: 'p' };
          },
        }),
      ),
    );
    await using _ = lab;
    const report = await lab.host.send(flight);
    expect(sent).toEqual([]);
    expect(report).toMatchObject({ status: 'failed' });
    expect(report.error).toContain('api.runtime.channel.slack.chunk is not supported');
    expect(lab.of('egress.sent')).toEqual([]);
    expect(lab.of('egress.failed')[0]?.payload.cause).toBe('rejected');
  });

  it.each<[string, (api: Api) => unknown]>([
    ['gives it back', (api) => api.runtime['channel']?.['slack']?.['send']?.('coo')],
    [
      'gives an id of it back',
      (api) => ({ messageId: api.runtime['channel']?.['slack']?.['send']?.('coo')?.['id'] }),
    ],
    [
      'writes it into a text',
      (api) => ({ messageId: `slack-${String(api.runtime['channel']?.['slack']?.['send']?.())}` }),
    ],
    [
      'spreads it',
      (api) => ({ channel: 'slack', ...api.runtime['channel']?.['slack']?.['send']?.('coo') }),
    ],
    [
      'awaits it and says nothing of it',
      async (api) => {
        await api.runtime['channel']?.['slack']?.['send']?.('coo');
        return { ok: true };
      },
    ],
  ])('not as a delivery, if the channel %s', async (_how, sendText) => {
    const { lab } = await labOf((api) =>
      api.registerChannel(channelOf({ sendText: async () => sendText(api) })),
    );
    await using _ = lab;
    const report = await lab.host.send(flight);
    expect(report).toMatchObject({ status: 'failed' });
    expect(report.error).toContain('api.runtime.channel.slack.send');
    expect(lab.of('egress.sent')).toEqual([]);
  });

  it('a channel that sends by itself is believed, whatever else it has asked for', async () => {
    const { lab } = await labOf((api) =>
      api.registerChannel(
        channelOf({
          sendText: async () => {
            if (api.runtime['logging']?.['shouldLogVerbose']?.()) api.logger.info('verbose');
            return { messageId: 'p-1' };
          },
        }),
      ),
    );
    await using _ = lab;
    const report = await lab.host.send(flight);
    expect(report).toMatchObject({ status: 'sent', receipt: { messageId: 'p-1' } });
  });

  it('not what is made with "new", as of a class', async () => {
    const { lab, logger } = await labOf((api) => {
      const Player = api.runtime['tts']?.['Player'] as unknown as new () => Absent; // a plugin believes so
      api.logger.info(`made a ${new Player()}`);
    });
    await using _ = lab;
    const told = logger.entries.map(({ message }) => message);
    expect(told.filter((one) => one.includes('made a api.runtime.tts.Player'))).toHaveLength(1);
    expect(told.filter((one) => one.includes('tts.Player is not supported'))).toHaveLength(1);
  });

  it('and a plugin that makes names of members for ever has a thousand written down (§17.12)', async () => {
    const { lab, logger } = await labOf(({ runtime }) => {
      for (let at = 0; at < 1_200; at += 1) runtime['tts']?.[`voice${at}`]?.();
    });
    await using _ = lab;
    const told = logger.messages('warn').filter((line) => line.includes('is not supported'));
    expect(told).toHaveLength(1_000);
  });

  it('and the bytes of a file that is given are not searched one by one', () => {
    const standIns = new StandIns(() => undefined);
    const absent = standIns.make('api.runtime.tts') as Absent;
    absent(); // from here on what the plugin gives is searched
    const look = vi.spyOn(Reflect, 'get');
    try {
      const found = standIns.pathIn({ from: absent, file: Buffer.alloc(1_000) });
      expect({ found, few: look.mock.calls.length < 10 }).toEqual({
        found: 'api.runtime.tts',
        few: true,
      });
    } finally {
      look.mockRestore();
    }
  });

  it('not among more objects than are searched: what holds too many is refused, and nothing of it goes on (§17.12)', async () => {
    const { lab, logger } = await labOf((api) =>
      api.on('message_sending', () => {
        const content = String(api.runtime['config']?.['sign']);
        const many = Array.from({ length: mostSearched }, () => ({}));
        return { content, many }; // the newest are searched first
      }),
    );
    await using _ = lab;
    await lab.say('hello');
    expect(lab.texts()).toEqual(['hello']);
    expect(logger.messages().join()).not.toContain('\u{f8f1}');
    const [failure] = lab.of('egress.preparing').flatMap(({ failures }) => failures);
    expect(failure?.error).toMatchObject({
      code: 'plugin-unsearchable',
      details: { extensionId: 'acme' },
    });
  });

  it('and as many objects as are searched are passed on (§17.12)', () => {
    const standIns = new StandIns(() => undefined);
    (standIns.make('api.runtime.tts') as Absent)();
    const many = Array.from({ length: mostSearched - 1 }, () => ({}));
    expect(standIns.pathIn(many)).toBeUndefined();
    expect(standIns.pathIn([...many, {}])).toBe(tooMany);
  });

  it('a channel that has no way to send a message says so', async () => {
    const { lab } = await labOf((api) =>
      api.registerChannel(channelOf({ sendPayload: undefined, sendText: null })),
    );
    await using _ = lab;
    const report = await lab.host.send(flight);
    expect(report).toMatchObject({ status: 'failed' });
    expect(lab.of('egress.sent')).toEqual([]);
  });

  it('not as the answer to a command', async () => {
    const { lab } = await labOf((api) =>
      api.registerCommand({
        name: 'coo',
        description: 'Coos.',
        handler: () => ({ text: `It is ${String(api.runtime['tts']?.['speak']?.())}` }),
      }),
    );
    await using _ = lab;
    await lab.say('/coo');
    expect(lab.texts()).toEqual(['"/coo" failed.']);
  });

  it.each<[string, (api: Api) => unknown]>([
    ['at once', (api) => ({ content: String(api.runtime['config']?.['sign']) })],
    ['later', async (api) => ({ content: String(await api.runtime['config']?.['load']?.()) })],
    ['as a choice', (api) => ({ cancel: api.runtime['tools']?.['isAllowed']?.() })],
  ])(
    'not as what a hook returns %s: the handler has failed, and the message goes on',
    async (_when, hook) => {
      const { lab, logger } = await labOf((api) => api.on('message_sending', () => hook(api)));
      await using _ = lab;
      await lab.say('hello');
      expect(lab.texts()).toEqual(['hello']);
      expect(logger.messages().join()).not.toContain('\u{f8f1}');
    },
  );

  it('not as what an internal hook says in the chat', async () => {
    const { lab } = await labOf((api) =>
      api.registerHook(
        'command:new',
        (event: { messages: unknown[] }) => {
          event.messages.push(`Hello from ${String(api.runtime['system']?.['hostname']?.())}`);
        },
        { name: 'greets' },
      ),
    );
    await using _ = lab;
    await lab.say('hello');
    await lab.say('/new');
    expect(lab.texts().join()).not.toContain('api.runtime');
    expect(lab.texts().join()).not.toContain('Hello from');
  });
});
