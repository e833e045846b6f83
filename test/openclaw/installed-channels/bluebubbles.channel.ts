import { describe, expect, inject, it } from 'vitest';
import { channelLab } from './channel-lab.js';
import { jsonServer } from './json-server.js';

const openclaw = inject('openClawWithChannels');
const password = 'a-dummy-password';
const chats = { dm: 'iMessage;-;+15550001111', group: 'iMessage;+;chat42' };

describe.skipIf(openclaw === undefined)('the unmodified bluebubbles of OpenClaw', () => {
  it('takes a direct message and one of a group in by its webhook, and answers each by a request; without the password nobody is heard (event-pipeline §17.19, extensions-that-act §9.9)', async () => {
    const sent: (readonly [chat: string, text: string])[] = [];
    await using mac = await jsonServer(({ method, path, query, body }) => {
      if (query.get('password') !== password) return [401, { status: 401 }];
      if (method === 'POST' && path === '/api/v1/message/text') {
        const { chatGuid = '', message = '' } = JSON.parse(body) as Record<string, string>;
        sent.push([chatGuid, message]);
        return { status: 200, data: { guid: `sent-${sent.length}` } };
      }
      if (path === '/api/v1/server/info')
        return { status: 200, data: { os_version: '15.0', private_api: false } };
      return { status: 200, data: [] };
    });
    await using lab = await channelLab({
      ...{ openclaw: openclaw ?? '', plugin: 'bluebubbles' },
      config: {
        channels: {
          bluebubbles: {
            ...{
              serverUrl: mac.url,
              password,
              webhookPath: '/hooks/mac',
              allowPrivateNetwork: true,
            },
            ...{ dmPolicy: 'open', allowFrom: ['*'], groupPolicy: 'open', sendReadReceipts: false },
            groups: { '*': { requireMention: false } },
          },
        },
      },
    });
    await lab.logs(/webhook listening/);
    const bring = async (chat: keyof typeof chats, text: string, by = password) => {
      const data = {
        ...{ guid: `${chat}-1`, text, isFromMe: false, dateCreated: 1 },
        ...{ handle: { address: '+15550001111' }, chats: [{ guid: chats[chat] }] },
      };
      const answer = await fetch(`${lab.url}/hooks/mac?password=${by}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ type: 'new-message', data }),
      });
      return answer.status;
    };
    expect(await bring('dm', 'nobody', 'another')).toBe(401);
    expect(await bring('dm', 'hello mac')).toBe(200);
    await lab.ended(({ sends }) => sends[0]?.content === 'hello mac');
    expect(await bring('group', 'hello all')).toBe(200);
    await lab.ended(({ sends }) => sends[0]?.content === 'hello all');
    expect(sent).toEqual([
      [chats.dm, 'hello mac'],
      [chats.group, 'hello all'],
    ]);
    expect(lab.ends).toHaveLength(2);
    expect(lab.plugin.unsupported).toEqual([]);
  });
});
