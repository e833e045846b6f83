import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { cancel } from '../../../src/kernel/internal.js';
import { compiled } from '../../support/compiled.js';
import { channelLab } from './channel-lab.js';
import { type IrcServer, ircPerson, startNgircd } from './ngircd.js';

const openclaw = inject('openClawWithChannels');

describe.skipIf(openclaw === undefined)('the unmodified irc of OpenClaw, at a real ngircd', () => {
  let server: IrcServer;
  beforeAll(async () => {
    server = await startNgircd();
  });
  afterAll(() => server[Symbol.asyncDispose]());

  const configOf = (nick: string) => ({
    channels: {
      irc: {
        ...{ host: '127.0.0.1', port: server.port, tls: false, nick, username: nick },
        ...{ realname: nick, channels: ['#room'], dmPolicy: 'open', allowFrom: ['*'] },
        groupPolicy: 'open',
        groups: { '#room': { requireMention: true, allowFrom: ['*'] } },
      },
    },
  });
  const labOf = (nick: string, more: object = {}) =>
    channelLab({ openclaw: openclaw ?? '', plugin: 'irc', config: configOf(nick), ...more });

  it('answers a direct message and a mention, and its own gate drops other lines (event-pipeline §17.19)', async () => {
    await using ada = await ircPerson(server.port, 'ada', '#room');
    await using lab = await labOf('slb');
    await ada.meets('slb', '#room');
    ada.say('slb', 'hello there');
    expect(await ada.hears(/^slb>ada /)).toBe('slb>ada hello there');
    ada.say('#room', 'nobody is meant');
    ada.say('#room', 'slb: are you here?');
    expect(await ada.hears(/^slb>#room /)).toBe('slb>#room slb: are you here?');
    await lab.ended(
      ({ status, sends }) => status === 'answered' && sends[0]?.content.includes('here') === true,
    );
    expect(lab.ends.map(({ status, channel, accountId }) => [status, channel, accountId])).toEqual([
      ['answered', 'irc', 'default'],
      ['answered', 'irc', 'default'],
    ]);
    expect(lab.plugin.unsupported).toEqual([]);
  });

  it('delivers nothing that a veto of egress.preparing has cancelled', async () => {
    await using ada = await ircPerson(server.port, 'eve', '#room');
    await using lab = await labOf('vet', {
      contribute: (kernel: import('../../../src/kernel/internal.js').Kernel) =>
        void kernel.contribute({
          ...{ family: 'egress.preparing', class: 'veto', extensionId: 'quiet', id: 'quiet' },
          handler: ({ payload }) =>
            payload.content.includes('secret') ? cancel('policy') : undefined,
        }),
    });
    await ada.meets('vet', '#room');
    ada.say('vet', 'a secret');
    const end = await lab.ended(({ status }) => status === 'cancelled');
    expect(end.sends[0]?.cancel?.extensionId).toBe('quiet');
    ada.say('vet', 'and now');
    await ada.hears(/^vet>eve and now/);
    expect(ada.heard).toEqual(['vet>eve and now']);
  });

  it('answers a message once whose host was killed between its receipt and the reply (event-pipeline §17.20)', async () => {
    await using ada = await ircPerson(server.port, 'zoe', '#room');
    const folder = await mkdtemp(join(tmpdir(), 'sluice-irc-'));
    const program = await compiled(fileURLToPath(new URL('./irc-host.ts', import.meta.url)));
    const begin = (how: 'hangs' | 'answers') => {
      const args = [openclaw ?? '', folder, JSON.stringify(configOf('kil')), how];
      return fork(program, args, {
        execArgv: [],
        env: { PATH: process.env['PATH'] ?? '', HOME: folder },
      });
    };
    const first = begin('hangs');
    const begun = told(first, 'has begun');
    await ada.meets('kil', '#room');
    ada.say('kil', 'are you there?');
    await begun;
    first.kill('SIGKILL');
    await once(first, 'exit');
    const second = begin('answers');
    expect(await ada.hears(/are you there/)).toMatch(/^kil_?>zoe are you there\?$/);
    await ada.meetsAgain('kil', '#room');
    ada.say('kil', 'and now?');
    await ada.hears(/and now/);
    expect(ada.heard).toHaveLength(2);
    second.kill('SIGKILL');
    await once(second, 'exit');
    await rm(folder, { recursive: true, force: true });
  });
});

/** Waits until a child says so. */
function told(child: ChildProcess, word: string): Promise<void> {
  return new Promise((resolve, reject) => {
    child.on('message', (said) => said === word && resolve());
    child.once('exit', (code) => reject(new Error(`the host ended with ${code}`)));
  });
}
