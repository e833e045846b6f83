import { type PayloadOf, select } from 'sluice';
import { expectCancelled, expectFailed, expectPassed, loadForTest } from 'sluice/testing';
import { afterEach, describe, expect, it, vi } from 'vitest';
import threadOwnership from '../src/index.js';
import { ownershipLab, testBot } from './ownership-lab.js';
import { owned, scriptedService } from './scripted-service.js';

const thread = 'POST /api/v1/ownership/C1/17.5';

afterEach(() => vi.unstubAllEnvs());

describe('a message to a thread', () => {
  it('goes out where the service gives the thread to its agent', async () => {
    await using lab = await ownershipLab();
    expectPassed(await lab.send());
    expect(lab.asked()).toEqual([thread]);
    const [{ headers, body } = expect.fail()] = lab.service.asked;
    expect(headers['content-type']).toBe('application/json');
    expect(headers.authorization).toBeUndefined();
    expect(JSON.parse(body)).toEqual({ agent_id: 'test-agent' });
  });

  it('is cancelled where another agent owns the thread, and the reason names the owner', async () => {
    await using lab = await ownershipLab({ answer: owned });
    const { cancel } = expectCancelled(await lab.send(), {
      code: 'owned-elsewhere',
      by: 'thread-ownership/owner',
    });
    expect(cancel.text).toBe('other owns the thread 17.5 of C1');
    expect(cancel.details).toEqual({
      channel: 'slack',
      conversationId: 'C1',
      threadId: '17.5',
      owner: 'other',
    });
    expect(lab.test.log.messages('info')).toEqual(['cancelled send to C1:17.5 - owned by other']);
    expect(lab.test.log.messages('warn')).toEqual([]);
  });

  it.each<[string, Partial<PayloadOf<'egress.preparing'>>]>([
    ['on a channel that is not of the list', { channel: 'discord' }],
    ['outside of a thread', { threadId: '' }],
  ])('goes out unasked %s', async (_, fields) => {
    await using lab = await ownershipLab({ answer: owned });
    expectPassed(await lab.send(fields));
    expect(lab.asked()).toEqual([]);
  });

  it('of a stream is judged at its opening and at its final', async () => {
    await using lab = await ownershipLab();
    expectPassed(await lab.send({ kind: 'stream-opening', streaming: true }));
    lab.service.answer = owned;
    expectCancelled(await lab.send({ kind: 'stream-final' }));
    expect(lab.asked()).toEqual([thread, thread]);
  });

  it('is asked about once, however often it is changed afterwards', async () => {
    await using lab = await ownershipLab();
    lab.test.kernel.contribute({
      family: 'egress.preparing',
      class: 'mutator',
      extensionId: 'sign',
      id: 'sign',
      priority: -1,
      handler: ({ payload }) => ({ content: `${payload.content} -- Acme` }),
    });
    const { steps } = expectPassed(await lab.send());
    expect(steps.filter(({ recheck }) => recheck)).toHaveLength(1);
    expect(lab.asked()).toEqual([thread]);
  });

  it('is asked about anew where a resolver sends it elsewhere', async () => {
    await using lab = await ownershipLab();
    lab.test.kernel.contribute({
      family: 'egress.preparing',
      class: 'resolver',
      extensionId: 'z-route',
      id: 'elsewhere',
      handler: () => select({ channel: 'slack', accountId: 'default', to: 'C2', threadId: '9' }),
    });
    lab.service.answer = (response, { line }) =>
      line === thread ? response.end('{}') : response.writeHead(409).end();
    const { cancel } = expectCancelled(await lab.send({ explicit: false }));
    expect(cancel.text).toBe('another agent owns the thread 9 of C2');
    expect(lab.asked()).toEqual([thread, 'POST /api/v1/ownership/C2/9']);
  });
});

describe('the thread', () => {
  const bare = { channel: 'slack', to: 'somewhere', explicit: true } as const;
  const ref = (id: string, channel = 'slack') => ({ channel, id });

  it('is what the refs of the envelope name', async () => {
    await using lab = await ownershipLab();
    const given = { conversationRef: ref('C7'), threadRef: ref('3.1') };
    expectPassed(await lab.test.dispatch('egress.preparing', bare, given));
    expect(lab.asked()).toEqual(['POST /api/v1/ownership/C7/3.1']);
  });

  it('is the one that the payload names, where that is another', async () => {
    await using lab = await ownershipLab();
    const given = { conversationRef: ref('C7'), threadRef: ref('3.1') };
    await lab.send({ conversationId: 'C8', threadId: '4' }, given);
    expect(lab.asked()).toEqual(['POST /api/v1/ownership/C8/4']);
  });

  it('is none where nothing names one', async () => {
    await using lab = await ownershipLab();
    expectPassed(await lab.test.dispatch('egress.preparing', bare));
    expect(lab.asked()).toEqual([]);
  });

  it('is not what refs of another channel name', async () => {
    await using lab = await ownershipLab();
    const given = { conversationRef: ref('C7', 'discord'), threadRef: ref('3.1', 'discord') };
    expectPassed(await lab.test.dispatch('egress.preparing', bare, given));
    expect(lab.asked()).toEqual([]);
  });

  it('of a channel beside Slack carries the channel, and its ids are encoded', async () => {
    await using lab = await ownershipLab({ channels: ['slack', 'telegram'] });
    await lab.send({ channel: 'telegram', conversationId: '-100/5?#', threadId: 7 });
    await lab.send({ conversationId: 'C 1%', threadId: 'é' });
    expect(lab.asked()).toEqual([
      'POST /api/v1/ownership/telegram%3A-100%2F5%3F%23/7',
      'POST /api/v1/ownership/C%201%25/%C3%A9',
    ]);
  });

  it.each(['.', '..', '\ud800'])(
    'with the id %j cannot be asked about, and is marked',
    async (id) => {
      await using lab = await ownershipLab();
      const { failures } = expectPassed(await lab.send({ threadId: id }));
      expect(failures).toMatchObject([{ kind: 'threw', policy: 'open' }]);
      expect(lab.asked()).toEqual([]);
    },
  );
});

describe('the list of conversations', () => {
  it('limits what is asked about', async () => {
    await using lab = await ownershipLab({ answer: owned, abTestChannels: ['C1'] });
    expectCancelled(await lab.send());
    expectPassed(await lab.send({ conversationId: 'C2' }));
    expect(lab.asked()).toEqual([thread]);
  });

  it('comes from the environment where the configuration has none', async () => {
    vi.stubEnv('THREAD_OWNERSHIP_CHANNELS', 'C1,,C5');
    await using lab = await ownershipLab({ answer: owned });
    expectCancelled(await lab.send());
    expectPassed(await lab.send({ conversationId: 'C2' }));
    await using unlimited = await ownershipLab({ answer: owned, abTestChannels: [] });
    expectCancelled(await unlimited.send({ conversationId: 'C2' }));
  });
});

describe('the agent', () => {
  it.each([
    ['the default one', [{ id: 'one' }, { id: ' two ', default: true }], null, 'two'],
    ['the first, where none is the default', [{ id: 'one' }, { id: 'two' }], null, 'one'],
    ['the one that speaks', [{ id: 'one' }, { id: 'two' }], 'two', 'two'],
    ['the default one, where another speaks', [{ id: 'one' }], 'main', 'one'],
    ['the one that speaks, where the list is empty', [], 'main', 'main'],
    ['unknown, where nobody says', [], null, 'unknown'],
  ])('is %s', async (_, agents, agentId, asked) => {
    await using lab = await ownershipLab({ agents });
    await lab.send({}, { agentId });
    expect(JSON.parse(lab.service.asked[0]?.body ?? '')).toEqual({ agent_id: asked });
  });

  it('without a name of its own is warned about', async () => {
    await using lab = await ownershipLab({ agents: [] });
    expect(lab.test.log.messages('warn')[0]).toContain('config.agents is empty');
    await using named = await ownershipLab();
    expect(named.test.log.messages('warn')).toEqual([]);
  });
});

describe('the service', () => {
  it('is where the environment says, where the configuration does not', async () => {
    await using service = await scriptedService();
    vi.stubEnv('SLACK_FORWARDER_URL', `${service.url}/base/`);
    await using test = await loadForTest(threadOwnership, { config: { agents: [testBot] } });
    const place = { channel: 'slack', conversationId: 'C1', threadId: '17.5', explicit: true };
    await test.dispatch('egress.preparing', place);
    expect(service.asked[0]?.line).toBe('POST /base/api/v1/ownership/C1/17.5');
  });

  it.each([
    ['the environment', 'hush-hush', {}],
    ['the configuration', 'another', { token: 'hush-hush' }],
  ])('is told the token of %s, and nobody else is', async (_, variable, config) => {
    vi.stubEnv('SLUICE_OWNERSHIP_TOKEN', variable);
    await using lab = await ownershipLab(config);
    expectPassed(await lab.send());
    expect(lab.service.asked[0]?.headers.authorization).toBe('Bearer hush-hush');
    lab.service.answer = (response) => response.destroy();
    const outcome = await lab.send();
    expect(JSON.stringify([outcome, lab.test.log.entries])).not.toContain('hush-hush');
  });

  it('must have a token of one word', async () => {
    vi.stubEnv('SLUICE_OWNERSHIP_TOKEN', 'hush hush');
    await expect(ownershipLab()).rejects.toThrow('SLUICE_OWNERSHIP_TOKEN must be one word');
  });

  it('is not followed to another address', async () => {
    await using elsewhere = await scriptedService();
    await using lab = await ownershipLab({
      answer: (response) => response.writeHead(307, { location: elsewhere.url }).end(),
    });
    const { failures } = expectPassed(await lab.send());
    expect(failures[0]?.message).toContain('status 307');
    expect(elsewhere.asked).toEqual([]);
  });
});

describe('the configuration', () => {
  it.each([
    [{ forwarderUrl: 'slack-forwarder:8750' }, 'config.forwarderUrl must be an http or https URL'],
    [{ forwarderUrl: 'http://a:b@host' }, 'config.forwarderUrl must hold no password'],
    [{ forwarderUrl: 'http://host/?a' }, 'config.forwarderUrl must end with its path'],
    [{ token: 'two words' }, 'config.token: must be one word of plain characters'],
    [{ agents: [{ id: ' ' }] }, 'thread-ownership: config.agents[0].id: must not be blank'],
    [{ failclosed: true }, 'Unrecognized key: "failclosed"'],
  ])('%j is refused', async (config, message) => {
    await expect(loadForTest(threadOwnership, { config })).rejects.toThrow(message);
  });

  it('failClosed keeps a message back where the service is of no help', async () => {
    await using lab = await ownershipLab({
      failClosed: true,
      answer: (response) => response.writeHead(500).end(),
    });
    expectFailed(await lab.send(), 'threw');
    lab.service.answer = (response) => response.end('{}');
    expectPassed(await lab.send());
    expectPassed(await lab.send({ channel: 'discord' }));
  });

  it('leaves nothing behind when the extension is unloaded', async () => {
    await using lab = await ownershipLab({ answer: owned });
    await lab.test.dispose();
    expect(lab.test.kernel.stats().contributions).toBe(0);
    expect(lab.test.clock.pending).toBe(0);
    expectPassed(await lab.send());
  });
});
