import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { held } from '../../support/held-agent.js';
import { pressed, said, slash } from '../../support/slack-api/envelopes.js';
import type { Envelope } from '../../support/slack-api/slack-server.js';
import { type SlackLab, type SlackLabOptions, slackLab } from '../../support/slack-lab.js';

const secret = '0123456789abcdef0123456789abcdef';

/** A host that takes events over HTTP. */
async function eventsLab(
  options: SlackLabOptions = {},
): Promise<SlackLab & { readonly url: string }> {
  const lab = await slackLab({
    settings: {
      streaming: false,
      accounts: { default: { signingSecret: secret, events: { port: 0 } } },
    },
    ...options,
  });
  return { ...lab, url: `http://127.0.0.1:${lab.channel.account('default')?.port}/slack/events` };
}

/** An envelope as Slack brings it over HTTP. */
function bodyOf({ type, payload }: Envelope): {
  readonly body: string;
  readonly contentType: string;
} {
  if (type === 'events_api')
    return { body: JSON.stringify(payload), contentType: 'application/json' };
  const form = type === 'interactive' ? { payload: JSON.stringify(payload) } : { ...payload };
  return {
    body: new URLSearchParams(form as Record<string, string>).toString(),
    contentType: 'application/x-www-form-urlencoded',
  };
}

interface How {
  readonly secret?: string;
  readonly ageS?: number;
  readonly headers?: Readonly<Record<string, string | undefined>>;
}

function bring(
  lab: { readonly url: string; readonly clock: SlackLab['clock'] },
  envelope: Envelope,
  how: How = {},
) {
  const { body, contentType } = bodyOf(envelope);
  const at = String(Math.floor(lab.clock.now() / 1_000) - (how.ageS ?? 0));
  const signature = createHmac('sha256', how.secret ?? secret)
    .update(`v0:${at}:${body}`)
    .digest('hex');
  const headers: Record<string, string | undefined> = {
    'content-type': contentType,
    'x-slack-request-timestamp': at,
    'x-slack-signature': `v0=${signature}`,
    ...how.headers,
  };
  const given = Object.entries(headers).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, value] as const],
  );
  return fetch(lab.url, { method: 'POST', body, headers: Object.fromEntries(given) });
}

describe('events of Slack over HTTP', () => {
  it('are taken in, answered with 200 when they are done with, and handled once', async () => {
    await using lab = await eventsLab();
    const first = bring(lab, said(1, 'hello'));
    await lab.until(() => lab.server.shown.length === 1, 'it is answered');
    expect((await first).status).toBe(200);
    const again = await bring(lab, said(1, 'hello'), { headers: { 'x-slack-retry-num': '1' } });
    expect(again.status).toBe(200);
    const others = [
      bring(lab, slash(2, '/help')),
      bring(lab, pressed(3, { action_id: 'button:0', value: 'go' })),
    ];
    await lab.until(() => lab.of('interaction.received').length === 2, 'both came');
    await lab.until(() => lab.ends.length === 3, 'all are done with');
    expect((await Promise.all(others)).map(({ status }) => status)).toEqual([200, 200]);
    expect(lab.of('ingress.normalized')).toHaveLength(1);
    expect(lab.server.of('apps.connections.open')).toEqual([]);
  });

  it('answer the question by which Slack tries the address', async () => {
    await using lab = await eventsLab();
    const challenge = {
      type: 'events_api',
      payload: { type: 'url_verification', challenge: 'c-1' },
    } as const;
    const answer = await bring(lab, challenge);
    expect([answer.status, await answer.text()]).toEqual([200, 'c-1']);
  });

  it.each<[string, How]>([
    ['another secret', { secret: 'f'.repeat(32) }],
    ['no signature', { headers: { 'x-slack-signature': undefined } }],
    ['no time', { headers: { 'x-slack-request-timestamp': undefined } }],
    ['a time that is junk', { headers: { 'x-slack-request-timestamp': 'soon' } }],
    ['a time five minutes and a second ago', { ageS: 301 }],
    ['a time five minutes and a second ahead', { ageS: -302 }],
  ])('with %s are refused, and nothing comes in', async (_, how) => {
    await using lab = await eventsLab();
    expect((await bring(lab, said(1, 'hello'), how)).status).toBe(401);
    expect(lab.of('ingress.received')).toEqual([]);
    expect(JSON.stringify(lab.log.entries)).toContain('requests were refused');
  });

  it('of exactly five minutes ago are taken in', async () => {
    await using lab = await eventsLab();
    const taken = bring(lab, said(1, 'hello'), { ageS: 300 });
    await lab.until(() => lab.ends.length === 1, 'it is done with');
    expect((await taken).status).toBe(200);
  });

  it('that a host without a journal takes long for are answered in three seconds', async () => {
    const agent = held();
    await using lab = await eventsLab({ agents: [{ id: 'main', provider: agent.provider }] });
    const beganAtMs = lab.clock.now();
    let status: number | undefined;
    void bring(lab, said(1, 'hello')).then((response) => {
      status = response.status;
    });
    await lab.until(() => status !== undefined, 'it is answered');
    expect(status).toBe(200);
    expect(lab.clock.now() - beganAtMs).toBeLessThan(3_000);
    agent.release();
    await lab.until(() => lab.server.shown.length === 1, 'the agent has answered');
  });

  it('that are no JSON, too long, or elsewhere are refused', async () => {
    await using lab = await eventsLab();
    const at = String(Math.floor(lab.clock.now() / 1_000));
    const post = (body: string, url = lab.url) => {
      const signature = createHmac('sha256', secret).update(`v0:${at}:${body}`).digest('hex');
      const headers = { 'x-slack-request-timestamp': at, 'x-slack-signature': `v0=${signature}` };
      return fetch(url, { method: 'POST', body, headers });
    };
    expect((await post('{')).status).toBe(400);
    expect((await post('x'.repeat(1_048_577))).status).toBe(413);
    expect((await post('{}', lab.url.replace('events', 'elsewhere'))).status).toBe(404);
    expect((await fetch(lab.url)).status).toBe(405);
    expect(lab.of('ingress.received')).toEqual([]);
  });

  it('need a signing secret: without one the account says so', async () => {
    const settings = { accounts: { default: { events: { port: 0 } } } };
    await expect(slackLab({ settings })).rejects.toThrow(/SLACK_SIGNING_SECRET is not set/);
  });
});
