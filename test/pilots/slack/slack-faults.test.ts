import { describe, expect, it } from 'vitest';
import { memoryJournal } from '../../../src/journal/index.js';
import { virtualClock } from '../../../src/testing/index.js';
import { held } from '../../support/held-agent.js';
import { mortalJournal } from '../../support/mortal-journal.js';
import { event, said } from '../../support/slack-api/envelopes.js';
import type { SlackFault } from '../../support/slack-api/fault.js';
import { type SlackServer, slackServer } from '../../support/slack-api/slack-server.js';
import { type SlackLab, slackLab } from '../../support/slack-lab.js';

const whole = { settings: { streaming: false } };

/** The one end of the one send that there was. */
function endOf(lab: SlackLab): Record<string, unknown> {
  const ends = lab.outcomes.filter(({ event }) =>
    ['egress.sent', 'egress.failed', 'egress.cancelled'].includes(event.family),
  );
  expect(ends).toHaveLength(1);
  return { family: ends[0]?.event.family, ...(ends[0]?.payload as object) };
}

async function send(
  faults: readonly SlackFault[],
  text = 'hello',
  settings = {},
): Promise<SlackLab> {
  const lab = await slackLab({
    settings: { ...whole.settings, ...settings },
    failureText: () => undefined,
  });
  lab.server.fault('chat.postMessage', ...faults);
  await lab.settle(said(1, text));
  return lab;
}

describe('a send on Slack', () => {
  it('that Slack has no time for is sent once, when its time has come', async () => {
    await using lab = await send([{ tooMany: 3 }, { tooMany: 2 }]);
    expect(endOf(lab)).toMatchObject({ family: 'egress.sent', attempt: 3 });
    expect(lab.server.shown).toMatchObject([{ text: 'hello' }]);
    const { durationMs } = endOf(lab) as { durationMs: number };
    expect(durationMs).toBeGreaterThanOrEqual(5_000);
  });

  it.each([
    ['nothing', { tooMany: undefined }],
    ['junk', { tooMany: 'soon' }],
    ['no time at all', { tooMany: 0 }],
    ['the error alone', { error: 'ratelimited' }],
  ])(
    'that Slack has no time for, and says %s of how long, waits longer each time',
    async (_, fault) => {
      await using lab = await send([fault, fault, fault]);
      expect(endOf(lab)).toMatchObject({ family: 'egress.sent', attempt: 4 });
      const { durationMs } = endOf(lab) as { durationMs: number };
      expect(durationMs).toBeGreaterThanOrEqual(1_000 + 2_000 + 4_000);
    },
  );

  it.each<[string, SlackFault, number]>([
    ['a 502 with a page', { html: 502 }, 0],
    ['a page in place of an answer', { html: 200 }, 0],
    ['a 502 with a page, after it was accepted', { html: 502, after: true }, 1],
    ['a connection that breaks', { reset: true }, 0],
    ['a connection that breaks, after it was accepted', { reset: true, after: true }, 1],
    ['no answer', { hang: true }, 0],
    ['no answer, after it was accepted', { hang: true, after: true }, 1],
    ['fatal_error', { error: 'fatal_error', after: true }, 1],
  ])('that meets %s is ambiguous, and not sent again', async (_, fault, shown) => {
    await using lab = await send([fault]);
    expect(endOf(lab)).toMatchObject({ family: 'egress.failed', cause: 'ambiguous', attempts: 1 });
    expect(lab.server.of('chat.postMessage')).toHaveLength(1);
    expect(lab.server.shown).toHaveLength(shown);
  });

  it.each([
    ['is not shown', { reset: true }],
    ['is shown', { reset: true, after: true }],
  ] as const)(
    'with an unknown end that %s is made again under its client_msg_id, and shown once',
    async (_, fault) => {
      await using lab = await send([fault], 'hello', { resend: true });
      expect(endOf(lab)).toMatchObject({ family: 'egress.sent', attempt: 2 });
      const ids = lab.server.of('chat.postMessage').map(({ payload }) => payload['client_msg_id']);
      expect(ids).toHaveLength(2);
      expect(new Set(ids).size).toBe(1);
      expect(ids[0]).toMatch(/^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-8[\da-f]{3}-[\da-f]{12}$/);
      expect(lab.server.shown).toMatchObject([{ text: 'hello' }]);
    },
  );

  it.each([
    ['is_archived', 'is_archived: nobody can write to an archived channel'],
    ['not_in_channel', 'not_in_channel: invite the bot with /invite'],
    ['token_revoked', 'token_revoked: install the app again, and set its new token'],
    ['missing_scope', 'missing_scope: add the scope to the app, and install it again'],
    ['user_is_restricted', 'user_is_restricted'],
  ])('that is refused with %s fails for good, and says what to do', async (error, text) => {
    await using lab = await send([{ error }]);
    expect(endOf(lab)).toMatchObject({ cause: 'rejected', error: text, attempts: 1 });
  });

  it('whose blocks are refused goes out without them, with every letter', async () => {
    await using lab = await send(
      [{ error: 'invalid_blocks' }],
      'a **bold** &lt;word&gt; &amp; *more*',
    );
    expect(endOf(lab)).toMatchObject({ family: 'egress.sent', attempt: 1 });
    expect(lab.server.shown).toMatchObject([{ text: 'a bold <word> & more', blocks: [] }]);
  });

  it('of 9,000 units is three messages, in order, in one receipt', async () => {
    const words = Array.from({ length: 1_500 }, (_, at) => `w${String(at).padStart(4, '0')}`);
    await using lab = await send([], words.join(' '));
    expect(lab.server.shown.map(({ text }) => text).join(' ')).toBe(words.join(' '));
    expect(lab.server.shown).toHaveLength(3);
    const { receipt } = endOf(lab) as { receipt: { messageIds: string[] } };
    expect(receipt.messageIds).toEqual(lab.server.shown.map(({ ts }) => ts));
  });

  it('that breaks off in its middle is told as such, and not sent anew', async () => {
    await using lab = await send([{ pass: true }, { error: 'is_archived' }], 'word '.repeat(1_500));
    expect(endOf(lab)).toMatchObject({
      cause: 'ambiguous',
      error: expect.stringContaining('1 of 2 parts were sent; then: is_archived'),
    });
    expect(lab.server.shown).toHaveLength(1);
  });
});

describe('updates of Slack', () => {
  it('that come twice, by their number of retries or as a mention, are answered once', async () => {
    await using lab = await slackLab({ settings: { streaming: false, requireMention: false } });
    const more = { channel: 'C001' };
    const text = '<@UBOT1> hello';
    await lab.settle(said(1, text, more));
    lab.server.give(said(1, text, { ...more, type: 'app_mention', channel_type: undefined }));
    lab.server.give(said(1, text, more));
    await lab.until(() => lab.server.acknowledged.length === 3, 'all are acknowledged');
    await lab.settle(said(2, 'and then', more));
    expect(lab.server.shown).toHaveLength(2);
  });

  it('are acknowledged when the journal keeps them, and answered once over a restart', async () => {
    const clock = virtualClock();
    await using server = await slackServer(() => clock.now());
    const journal = memoryJournal();
    const mortal = mortalJournal(journal);
    const agent = held();
    const agents = [{ id: 'main', provider: agent.provider }];
    const first = await slackLab({
      ...whole,
      clock,
      journal: mortal,
      agents,
      shared: { server, process: 'first' },
    });
    server.give(said(1, 'hello'));
    await first.until(() => server.acknowledged.length === 1, 'it is acknowledged');
    await first.until(() => agent.asked.length === 1, 'the agent is asked');
    expect(server.shown).toEqual([]);
    mortal.kill();
    server.cutOff('first');
    agent.release();
    await using next = await slackLab({
      ...whole,
      clock,
      journal,
      shared: { server, process: 'next' },
    });
    await next.until(() => server.shown.length === 1, 'it is answered');
    server.give(said(1, 'hello'));
    await next.until(() => server.acknowledged.length === 2, 'it is acknowledged again');
    await next.settle(said(2, 'and then'));
    expect(server.shown.map(({ text }) => text)).toEqual(['hello', 'and then']);
    await first[Symbol.asyncDispose]();
  });

  it('are acknowledged in three seconds without a journal, too, and handled once', async () => {
    const agent = held();
    await using lab = await slackLab({
      ...whole,
      agents: [{ id: 'main', provider: agent.provider }],
    });
    const beganAtMs = lab.clock.now();
    lab.server.give(said(1, 'hello'));
    await lab.until(() => lab.server.acknowledged.length === 1, 'it is acknowledged');
    expect(lab.clock.now() - beganAtMs).toBeLessThan(3_000);
    lab.server.give(said(1, 'hello'));
    await lab.until(() => lab.server.acknowledged.length === 2, 'it is acknowledged again');
    agent.release();
    await lab.until(() => lab.server.shown.length === 1, 'it is answered');
    expect(agent.asked).toEqual(['hello']);
  });

  it('that were not acknowledged when the connection broke come by the next one', async () => {
    const agent = held();
    await using lab = await slackLab({
      ...whole,
      agents: [{ id: 'main', provider: agent.provider }],
    });
    lab.server.endSockets('broken');
    lab.server.give(said(1, 'hello'));
    await lab.until(() => agent.asked.length === 1, 'the agent is asked');
    agent.release();
    await lab.until(() => lab.server.shown.length === 1, 'it is answered');
  });
});

describe('the connection to Slack', () => {
  it.each(['asked', 'broken'] as const)('that Slack ends (%s) is made again', async (how) => {
    await using lab = await slackLab(whole);
    lab.server.endSockets(how);
    await lab.until(() => lab.server.of('apps.connections.open').length === 2, 'it is asked for');
    await lab.until(() => lab.server.sockets === 1, 'it is there');
    await lab.settle(said(1, 'hello'));
    expect(lab.server.shown).toMatchObject([{ text: 'hello' }]);
  });

  it('is tried again, after growing waits, while Slack cannot be reached', async () => {
    await using lab = await slackLab(whole);
    const fail: SlackFault = { html: 503 };
    lab.server.fault('apps.connections.open', fail, { reset: true }, fail);
    lab.server.endSockets('broken');
    const beganAtMs = lab.clock.now();
    await lab.until(() => lab.server.of('apps.connections.open').length === 5, 'it is asked for');
    expect(lab.clock.now() - beganAtMs).toBeGreaterThanOrEqual(1_000 + 2_000 + 4_000);
    await lab.settle(said(1, 'hello'));
    expect(lab.log.entries.filter(({ level }) => level === 'error')).toEqual([]);
  });

  it.each([
    'null',
    '{',
    '{"type":"events_api","payload":{}}',
    '{"type":"events_api","envelope_id":"1"}',
    '[7]',
  ])('goes on after a frame that nobody can read: %s', async (frame) => {
    const unhandled: unknown[] = [];
    const hear = (reason: unknown) => unhandled.push(reason);
    process.on('unhandledRejection', hear);
    try {
      await using lab = await slackLab(whole);
      lab.server.sendFrame(frame);
      await lab.settle(said(1, 'hello'));
      expect(lab.server.shown).toMatchObject([{ text: 'hello' }]);
    } finally {
      process.off('unhandledRejection', hear);
    }
    expect(unhandled).toEqual([]);
  });

  it('is given up and made again where Slack does not answer', async () => {
    await using lab = await slackLab(whole);
    lab.server.fault('apps.connections.open', { hang: true });
    lab.server.endSockets('broken');
    const beganAtMs = lab.clock.now();
    await lab.until(() => lab.server.of('apps.connections.open').length === 3, 'it is asked for');
    expect(lab.clock.now() - beganAtMs).toBeGreaterThanOrEqual(30_000);
    await lab.settle(said(1, 'hello'));
  });

  it('that Slack does not answer for is waited for, and a host that stops meanwhile stops', async () => {
    await using lab = await slackLab(whole);
    lab.server.fault('apps.connections.open', { hang: true });
    lab.server.endSockets('broken');
    await lab.until(() => lab.server.of('apps.connections.open').length === 2, 'it is asked for');
  });

  it.each<[string, string, SlackFault, string]>([
    ['no answer', 'apps.connections.open', { hang: true }, 'Slack cannot be reached'],
    ['a broken connection', 'auth.test', { reset: true }, 'no readable answer'],
    ['a 503', 'apps.connections.open', { html: 503 }, '503'],
    ['internal_error', 'auth.test', { error: 'internal_error' }, 'internal_error'],
    ['ratelimited', 'auth.test', { error: 'ratelimited' }, 'ratelimited'],
    ['too_many_websockets', 'socket', { error: 'too_many_websockets' }, 'too_many_websockets'],
    ['a change of the workspace', 'auth.test', { error: 'team_added_to_org' }, 'team_added_to_org'],
  ])(
    'is made after waits that grow if the start meets %s, and the reason is named (§14.18)',
    async (_, method, fault, reason) => {
      const prepare = (server: SlackServer) => server.fault(method, fault, fault);
      await using lab = await slackLab({ ...whole, prepare });
      expect(lab.host.health()).toMatchObject({
        accounts: [],
        starting: [{ channel: 'slack', failures: 1, lastFailure: expect.stringContaining(reason) }],
      });
      await lab.until(() => lab.of('account.started').length === 1, 'it has started');
      const waits = lab.log.entries.flatMap(
        ({ message }) => /again in (\d+) ms/.exec(message)?.[1] ?? [],
      );
      expect(waits).toEqual(['1000', '2000']);
      expect(lab.host.health()).not.toHaveProperty('starting');
      await lab.settle(said(1, 'hello'));
      expect(lab.server.shown).toMatchObject([{ text: 'hello' }]);
    },
  );

  it('is made no sooner than Slack asks (§14.18)', async () => {
    const prepare = (server: SlackServer) => server.fault('auth.test', { tooMany: 90 });
    await using lab = await slackLab({ ...whole, prepare });
    const beganAtMs = lab.clock.now();
    await lab.until(() => lab.of('account.started').length === 1, 'it has started');
    expect(lab.clock.now() - beganAtMs).toBe(90_000);
  });

  it('ends the account when Slack takes its token no more', async () => {
    await using lab = await slackLab(whole);
    lab.server.fault('apps.connections.open', { error: 'token_revoked' });
    lab.server.endSockets('broken');
    await lab.until(() => lab.of('account.stopped').length === 1, 'the account has ended');
    expect(JSON.stringify(lab.log.entries)).toContain("Slack refuses the app's token");
  });

  it('ends the account when the app is taken out of the workspace', async () => {
    await using lab = await slackLab(whole);
    await lab.settle(event('Ev8', { type: 'tokens_revoked', tokens: { oauth: ['U00ADA'] } }));
    expect(lab.of('account.stopped')).toEqual([]);
    lab.server.give(event('Ev9', { type: 'tokens_revoked', tokens: { bot: ['UBOT1'] } }));
    await lab.until(() => lab.of('account.stopped').length === 1, 'the account has ended');
    expect(lab.server.acknowledged).toEqual([1, 2]);
  });

  it.each<[string, (lab: SlackServer) => void, string]>([
    [
      'the bot token',
      (server) => server.fault('auth.test', { error: 'invalid_auth' }),
      'Slack does not take the bot token: invalid_auth',
    ],
    [
      'the app token',
      (server) => server.fault('apps.connections.open', { error: 'invalid_auth' }),
      'Slack does not take the app-level token: invalid_auth',
    ],
    [
      'its scopes',
      (server) =>
        server.fault('auth.test', { error: 'missing_scope', more: { needed: 'chat:write' } }),
      'Slack does not take the bot token: missing_scope chat:write: add the scope',
    ],
    [
      'the account',
      (server) => server.fault('auth.test', { error: 'account_inactive' }),
      'account_inactive: install the app again',
    ],
  ])('is not made where Slack does not take %s: the account says so', async (_, prepare, text) => {
    await expect(slackLab({ ...whole, prepare })).rejects.toThrow(text);
  });
});

it('tokens, tickets and old secrets are in no log, event or error, whatever goes wrong', async () => {
  await using lab = await slackLab({ ...whole, failureText: () => undefined });
  lab.server.fault('chat.postMessage', { reset: true }, { error: 'token_revoked' });
  lab.server.fault('apps.connections.open', { reset: true });
  lab.server.endSockets('broken');
  await lab.settle(said(1, 'hello'), said(2, 'again'));
  const told = JSON.stringify([lab.log.entries, lab.outcomes.map(({ event }) => event)]);
  for (const secret of ['test-token', 'an-old-secret', 'ticket=s'])
    expect(told).not.toContain(secret);
});
