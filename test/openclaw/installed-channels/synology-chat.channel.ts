import { describe, expect, inject, it } from 'vitest';
import { channelLab } from './channel-lab.js';
import { jsonServer } from './json-server.js';

const openclaw = inject('openClawWithChannels');
const token = 'a-dummy-token';

describe.skipIf(openclaw === undefined)('the unmodified synology-chat of OpenClaw', () => {
  it('takes an outgoing webhook in by its route at the host’s port, and answers by the incoming webhook; the route goes with the account (event-pipeline §17.19, extensions-that-act §9.9)', async () => {
    const posted: unknown[] = [];
    await using nas = await jsonServer(({ method, query, body }) => {
      if (query.get('method') === 'user_list')
        return {
          success: true,
          data: { users: [{ user_id: 4, username: 'ada', nickname: 'Ada' }] },
        };
      const payload = new URLSearchParams(body).get('payload') ?? body;
      if (method === 'POST') posted.push(JSON.parse(payload));
      return { success: true };
    });
    await using lab = await channelLab({
      ...{ openclaw: openclaw ?? '', plugin: 'synology-chat' },
      config: {
        channels: {
          'synology-chat': {
            ...{ token, dmPolicy: 'open', webhookPath: '/hooks/synology' },
            incomingUrl: `${nas.url}/webapi/entry.cgi?api=SYNO.Chat.External&method=chatbot`,
          },
        },
      },
    });
    const bring = async (text: string, by = token): Promise<number> => {
      const form = { token: by, user_id: '1', username: 'ada', text };
      const answer = await fetch(`${lab.url}/hooks/synology`, {
        ...{ method: 'POST', body: new URLSearchParams(form) },
      });
      return answer.status;
    };
    expect(await bring('nobody', 'another')).toBe(401);
    expect(await bring('hello nas')).toBe(204);
    const end = await lab.ended(({ channel }) => channel === 'synology-chat');
    expect(end).toMatchObject({ status: 'answered', sends: [{ content: 'hello nas' }] });
    expect(posted).toEqual([{ text: 'hello nas', user_ids: [4] }]);
    expect(lab.ends).toHaveLength(1);
    expect(lab.plugin.unsupported).toEqual([]);
    expect(lab.host.routes.list().map(({ path }) => path)).toEqual(['/hooks/synology']);
    await lab.host.stop();
    expect(lab.host.routes.list()).toEqual([]);
  });
});
