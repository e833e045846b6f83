import { jsonServer } from './json-server.js';

const secret = 'a dummy secret of a test';

/** A stand-in for the server: it takes the messages of the bot, and brings those of a person. */
export async function nasStandIn() {
  const posted: unknown[] = [];
  const nas = await jsonServer(({ method, query, body }) => {
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
  const account = {
    ...{ token: secret, dmPolicy: 'open', allowedUserIds: ['*'] },
    ...{ webhookPath: '/hooks/synology', incomingUrl },
  };
  const bring = async (url: string, text: string, id: string, token = secret): Promise<number> => {
    const form = { token, user_id: '1', username: 'ada', text, post_id: id };
    const answer = await fetch(`${url}/hooks/synology`, {
      ...{ method: 'POST', body: new URLSearchParams(form) },
    });
    await answer.text();
    return answer.status;
  };
  return { ...nas, posted, account, bring };
}
