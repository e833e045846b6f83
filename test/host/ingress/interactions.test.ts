import { describe, expect, it } from 'vitest';
import { cancel, type FamilyName, type Kernel } from '../../../src/kernel/internal.js';
import type { DecodedIngress, Interaction } from '../../../src/sdk/channel/index.js';
import { type HostLab, hostLab } from '../../support/host-lab.js';
import { scriptedChannel } from '../../support/scripted-channel.js';

const interaction = (fields: Partial<Interaction>): Interaction => ({
  interactionId: 'i-1',
  kind: 'button',
  name: 'approve',
  values: [],
  channel: 'scripted',
  accountId: 'default',
  conversationId: 'scripted:ada',
  messageId: 'm-1',
  sender: { id: 'ada' },
  ...fields,
});

/** What a surface with buttons and commands of its own makes of an update that begins with `!` or `/`. */
function decode(raw: unknown): DecodedIngress | undefined {
  const { text } = raw as { text: string };
  if (text.startsWith('!'))
    return { kind: 'interaction', interaction: interaction({ name: text.slice(1) }) };
  if (!text.startsWith('/')) return undefined;
  const [name = '', ...values] = text.slice(1).split(' ');
  return {
    kind: 'command',
    interaction: interaction({ kind: 'command', name, values }),
    message: {
      channel: 'scripted',
      accountId: 'default',
      from: 'scripted:ada',
      conversationId: 'scripted:ada',
      messageId: 'm-1',
      sender: { id: 'ada' },
      content: text,
      attachments: [],
      metadata: {},
    },
  };
}

const lab = (contribute: (kernel: Kernel) => void = () => undefined): Promise<HostLab> =>
  hostLab({ channel: scriptedChannel({ decode }), contribute });

/** The families of a way that began with the host up. */
function way({ families }: HostLab): readonly FamilyName[] {
  return families().slice(families().indexOf('ingress.received'));
}

const replying = (family: 'interaction.received' | 'interaction.resolved', reply: string) => ({
  family,
  class: 'augmenter' as const,
  extensionId: 'test',
  id: reply,
  handler: () => ({ replies: [reply] }),
});

describe('a press of a button', () => {
  it('is interaction.* alone, and no message (§19.1)', async () => {
    await using it = await lab();
    const end = await it.say('!approve');
    expect(end).toMatchObject({ status: 'interaction', sends: [] });
    expect(way(it)).toEqual([
      'ingress.received',
      'interaction.received',
      'interaction.resolved',
      'interaction.completed',
    ]);
    expect(it.of('interaction.received')[0]?.payload).toMatchObject({
      name: 'approve',
      raw: { text: '!approve' },
    });
    expect(it.of('interaction.resolved')[0]?.payload).toMatchObject({ resolution: 'ignored' });
    expect(it.of('interaction.completed')[0]?.payload).toMatchObject({ success: true });
    expect(it.channel.acknowledged).toHaveLength(1);
  });

  it('is answered with what handlers reply to it, through egress (§19.3)', async () => {
    await using it = await lab((kernel) => {
      kernel.contribute(replying('interaction.received', 'one'));
      kernel.contribute(replying('interaction.resolved', 'two'));
    });
    const end = await it.say('!approve');
    expect(end.status).toBe('interaction');
    expect(it.channel.sent).toMatchObject([
      { content: 'one\n\ntwo', to: 'scripted:ada', replyToId: 'm-1', kind: 'reply' },
    ]);
    expect(way(it).slice(-4)).toEqual([
      'egress.preparing',
      'egress.sending',
      'egress.sent',
      'interaction.completed',
    ]);
  });

  it('is completed without success where its answer is kept back (§19.3)', async () => {
    await using it = await lab((kernel) => {
      kernel.contribute(replying('interaction.received', 'one'));
      kernel.contribute({
        family: 'egress.preparing',
        class: 'veto',
        extensionId: 'test',
        id: 'no',
        handler: () => cancel('policy'),
      });
    });
    const end = await it.say('!approve');
    expect(end).toMatchObject({ status: 'cancelled', reason: 'test/no: policy' });
    expect(it.of('interaction.completed')[0]?.payload).toMatchObject({
      success: false,
      error: 'test/no: policy',
    });
  });

  it('does not wait for the turn that runs (§19.4)', async () => {
    let press: Promise<unknown> = Promise.resolve();
    let pressed = false;
    await using it = await lab((kernel) => {
      kernel.contribute({
        family: 'agent.starting',
        class: 'augmenter',
        extensionId: 'test',
        id: 'press',
        handler: async () => {
          press = it.say('!stop').then(() => {
            pressed = true;
          });
          await press;
        },
      });
    });
    await it.say('hello');
    expect(pressed).toBe(true);
  });
});

describe('a command of a surface', () => {
  it('is interaction.* and command.* under one correlation, and no message (§19.2)', async () => {
    await using it = await lab();
    const end = await it.say('/help me');
    expect(end).toMatchObject({ status: 'command', agentId: 'main' });
    expect(way(it)).toEqual([
      'ingress.received',
      'interaction.received',
      'routing.resolving',
      'routing.resolved',
      'interaction.resolved',
      'command.received',
      'command.completed',
      'egress.preparing',
      'egress.sending',
      'egress.sent',
      'interaction.completed',
    ]);
    const [first, ...rest] = it.outcomes.slice(-11).map(({ event }) => event.correlationId);
    expect(new Set(rest)).toEqual(new Set([first]));
    expect(it.of('interaction.resolved')[0]?.payload).toMatchObject({
      resolution: 'command',
      commandName: 'help',
      agentId: 'main',
      sessionKey: end.sessionKey,
      explicit: true,
    });
    expect(it.of('command.received')[0]?.payload).toMatchObject({
      name: 'help',
      args: ['me'],
      source: 'native',
    });
    expect(it.of('interaction.completed')[0]?.payload).toMatchObject({ success: true });
    expect(it.of('interaction.received')[0]?.event).toMatchObject({
      conversationRef: { channel: 'scripted', id: 'scripted:ada' },
      messageRef: { channel: 'scripted', id: 'm-1' },
    });
  });

  it('that nobody knows is answered so, and completed without success (§19.2)', async () => {
    await using it = await lab();
    await it.say('/dance');
    expect(it.texts()).toEqual(['There is no command "/dance". Try /help.']);
    expect(it.of('interaction.completed')[0]?.payload).toMatchObject({ success: false });
  });

  it('that a veto of its route stops is resolved as ignored, and completed all the same (§19.2)', async () => {
    await using it = await lab((kernel) =>
      kernel.contribute({
        family: 'routing.resolving',
        class: 'veto',
        extensionId: 'test',
        id: 'no',
        handler: () => cancel('policy'),
      }),
    );
    const end = await it.say('/help');
    expect(end.status).toBe('cancelled');
    expect(it.texts()).toEqual([]);
    expect(it.of('interaction.resolved')[0]?.payload).toMatchObject({ resolution: 'ignored' });
    expect(it.of('interaction.completed')[0]?.payload).toMatchObject({ success: false });
    expect(it.of('command.received')).toEqual([]);
  });

  it('that is about the running turn does not wait for it (§19.4)', async () => {
    await using it = await lab((kernel) => {
      kernel.contribute({
        family: 'agent.starting',
        class: 'augmenter',
        extensionId: 'test',
        id: 'stop',
        handler: async () => {
          await it.say('/stop');
        },
      });
    });
    const end = await it.say('hello');
    expect(end.status).toBe('aborted');
    expect(it.texts()).toEqual(['Stopped.']);
  });

  it('whose content is no command line is undecodable, and so is a press without an id (§1.4)', async () => {
    const channel = scriptedChannel({
      decode: (raw) => {
        const { text } = raw as { text: string };
        const decoded = decode({ text: '/help' });
        if (decoded?.kind !== 'command') return decoded;
        if (text === 'press')
          return { kind: 'interaction', interaction: { name: 'x' } as Interaction };
        return { ...decoded, message: { ...decoded.message, content: 'help' } };
      },
    });
    await using it = await hostLab({ channel });
    expect(await it.say('line')).toMatchObject({
      status: 'undecodable',
      reason: 'it is no command line (at /message/content)',
    });
    expect(await it.say('press')).toMatchObject({ status: 'undecodable' });
    expect(it.of('interaction.received')).toEqual([]);
  });
});
