import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createDeviceIdentity, OpenClawClient } from '../../../src/openclaw/gateway/index.js';
import { collectingLogger } from '../../../src/testing/index.js';
import { calls, says, stalls } from '../../support/messages-api/reply.js';
import { describeGateway, GatewayLab, hearRun, release } from './gateway-lab.js';

describeGateway('the client before a real gateway (stream §2, §3)', () => {
  let lab: GatewayLab;

  beforeAll(async () => {
    lab = await GatewayLab.open({
      main: [],
      lanes: {
        'read the note': [
          says('I will look.', calls('toolu_1', 'read', { path: 'note.txt' })),
          says('It says: buy milk.'),
        ],
        'use a tool': [says(calls('toolu_2', 'read', { path: 'note.txt' })), says('Done.')],
        'without a device': [says('Who are you?')],
        'never stop': [stalls('One, two, three, four, five, six, seven, eight', 4)],
      },
    });
  });

  afterAll(() => lab[Symbol.asyncDispose]());

  async function sends(client: OpenClawClient, message: string) {
    const runId = `run-${randomUUID()}`;
    const heard = hearRun(client, runId);
    const answer = await client.requestRun('chat.send', {
      sessionKey: `agent:main:${randomUUID()}`,
      message,
      idempotencyKey: runId,
    });
    return { runId, heard, answer };
  }

  it('is let in with a device of its own, and hears each event of its run once, in order', async () => {
    const client = await lab.client();
    await client.ready();
    const { runId, heard, answer } = await sends(client, 'read the note');
    const final = await heard.ended;
    expect(answer).toMatchObject({ runId, status: 'started' });
    expect(final).toMatchObject({ state: 'final' });
    const numbers = heard.agent.map(({ seq }) => seq);
    if (release?.protocol === 3) {
      expect(final.text).toBe('I will look.It says: buy milk.');
      expect(numbers).toEqual(heard.agent.map((_, at) => at + 1));
    } else {
      expect(final.text).toMatch(/It says: buy milk\.$/); // what came before may be told elsewhere
      expect(numbers).toEqual([...new Set(numbers)].sort((a, b) => a - b));
    }
    expect(client.stats()).toMatchObject({ malformedFrames: 0, seqGaps: 0, seqRegressions: 0 });
    expect(heard.agent.every((event) => event.runId === runId)).toBe(true);
    expect(heard.agent.at(0)).toMatchObject({ stream: 'lifecycle', data: { phase: 'start' } });
    expect(heard.agent.at(-1)).toMatchObject({ stream: 'lifecycle', data: { phase: 'end' } });
  });

  it('hears of tools, since it asks for the cap tool-events', async () => {
    const client = await lab.client();
    await client.ready();
    const { heard } = await sends(client, 'use a tool');
    const result = await heard.agentEvent(
      ({ stream, data }) => stream === 'tool' && data['phase'] === 'result',
    );
    const start = heard.agent.find(({ stream }) => stream === 'tool');
    expect(start).toMatchObject({ data: { phase: 'start', name: 'read' } });
    expect(result).toMatchObject({ data: { name: 'read', isError: false } });
    await heard.ended;
  });

  it('is let in without a device: refused its requests, and warned of that, by 2026.3, and heard by 2026.9', async () => {
    const { url, token } = lab.gateway;
    const logger = collectingLogger();
    await using client = new OpenClawClient({ url, token, logger });
    client.start();
    await client.ready();
    const heard = hearRun(client, 'without-a-device');
    const refused = client.requestRun('chat.send', {
      sessionKey: 'agent:main:none',
      message: 'without a device',
      idempotencyKey: 'without-a-device',
    });
    if (release?.protocol !== 3) {
      expect(await refused).toMatchObject({ status: 'started' });
      expect(await heard.ended).toMatchObject({ state: 'final', text: 'Who are you?' });
      expect(logger.messages('warn')).toEqual([]);
      return;
    }
    expect(logger.messages('warn').join()).toContain('no device identity');
    await expect(refused).rejects.toMatchObject({ code: 'gateway-refused' });
    await expect(refused).rejects.toThrow('missing scope: operator.write');
  });

  it('is told that its token is wrong, in an error without the token', async () => {
    const logger = collectingLogger();
    const token = 'not-the-token-of-this-gateway';
    const { url } = lab.gateway;
    await using client = new OpenClawClient({
      url,
      token,
      device: createDeviceIdentity(),
      logger,
    });
    client.start();
    const error: unknown = await client.ready().catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'gateway-unreachable' });
    expect(JSON.stringify([String(error), error, logger.entries])).not.toContain(token);
  });

  it('stops a run, which then ends as aborted', async () => {
    const client = await lab.client();
    await client.ready();
    const runId = `run-${randomUUID()}`;
    const sessionKey = `agent:main:${randomUUID()}`;
    const heard = hearRun(client, runId);
    const send = { sessionKey, message: 'never stop', idempotencyKey: runId };
    await client.requestRun('chat.send', send);
    await heard.agentEvent(({ stream }) => stream === 'assistant');
    await client.request('chat.abort', { sessionKey, runId });
    expect(await heard.ended).toMatchObject({ state: 'aborted', stopReason: 'rpc' });
  });
});
