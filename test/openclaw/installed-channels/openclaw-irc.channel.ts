import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { laterLab } from './later/later-lab.js';
import { type IrcServer, ircPerson, startNgircd } from './ngircd.js';

const openclaw = inject('openClawWithChannels');

describe.skipIf(openclaw === undefined)(
  'the unmodified irc of OpenClaw 2026.9, at a real ngircd',
  () => {
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

    it('answers a direct message and a mention, and its own gate drops other lines (event-pipeline §17.35)', async () => {
      await using ada = await ircPerson(server.port, 'ada', '#room');
      await using lab = await laterLab('openclaw-irc', configOf('slb'));
      const host = await lab.begin();
      await ada.meets('slb', '#room');
      ada.say('slb', 'hello there');
      expect(await ada.hears(/^slb>ada /)).toBe('slb>ada hello there');
      ada.say('#room', 'nobody is meant');
      ada.say('#room', 'slb: are you here?');
      expect(await ada.hears(/^slb>#room /)).toBe('slb>#room slb: are you here?');
      await host.heard('end', ({ texts }) => texts[0]?.startsWith('slb: are') === true);
      const ends = host.said.flatMap((one) => (one.kind === 'end' ? [one.status] : []));
      expect(ends).toEqual(['answered', 'answered']);
      host.ask('stop');
      expect((await host.heard('stopped')).unsupported).toEqual([]);
    });
  },
);
