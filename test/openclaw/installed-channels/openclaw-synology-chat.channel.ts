import { describe, expect, inject, it } from 'vitest';
import { jsonServer } from './json-server.js';
import { laterLab } from './later/later-lab.js';

const openclaw = inject('openClawWithChannels');
const secret = 'a dummy secret of a test';

describe.skipIf(openclaw === undefined)('the unmodified synology-chat of OpenClaw 2026.9', () => {
  it('keeps a webhook before it acknowledges it, and answers one that comes twice once (event-pipeline §17.35)', async () => {
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
    const incomingUrl = `${nas.url}/webapi/entry.cgi?api=SYNO.Chat.External&method=chatbot`;
    await using lab = await laterLab('openclaw-synology-chat', {
      channels: {
        'synology-chat': {
          ...{ token: secret, dmPolicy: 'open', allowedUserIds: ['*'] },
          ...{ webhookPath: '/hooks/synology', incomingUrl },
        },
      },
    });
    const host = await lab.begin();
    const { url } = await host.heard('runs');
    const bring = async (text: string, id: string, token = secret): Promise<number> => {
      const form = { token, user_id: '1', username: 'ada', text, post_id: id };
      const answer = await fetch(`${url}/hooks/synology`, {
        ...{ method: 'POST', body: new URLSearchParams(form) },
      });
      await answer.text();
      return answer.status;
    };
    expect(await bring('nobody', '1', 'another')).toBe(401);
    expect(await bring('hello nas', '2')).toBe(204);
    expect(await host.heard('end')).toMatchObject({ status: 'answered', texts: ['hello nas'] });
    expect(await bring('hello nas', '2')).toBe(204);
    expect(await bring('and now?', '3')).toBe(204);
    await host.heard('end', ({ texts }) => texts[0] === 'and now?');
    expect(posted).toEqual([
      { text: 'hello nas', user_ids: [1] },
      { text: 'and now?', user_ids: [1] },
    ]);
    host.ask('stop');
    expect((await host.heard('stopped')).unsupported).toEqual([]);
  });
});
