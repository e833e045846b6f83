import { describe, expect, it } from 'vitest';
import { OpenClawAgentProvider } from '../../../src/openclaw/gateway/index.js';
import { until } from '../../support/gateway-server.js';
import { all, leftOf, nothingLeft, providerLab, triggerOf } from '../../support/provider-lab.js';

describe('trigger', () => {
  it('gathers chat events: the final text, trimmed, in one part (stream §4.8; facts 4.4)', async () => {
    await using lab = await providerLab();
    const answer = lab.agent.trigger(triggerOf('hello'));
    await lab.acknowledged();
    expect(lab.client.stats()).toMatchObject({ agentRuns: 0, chatRuns: 1 });
    lab.server.chat('r-1', 'delta', 'Hello');
    lab.server.agent('r-1', 'assistant', { text: 'of the other stream' });
    lab.server.chat('r-1', 'final', ' Hello world\n');
    expect(await answer).toEqual({ status: 'answered', parts: ['Hello world'] });
    await lab.clock.advance(1_000); // what is kept for runs to come is let go
    expect(leftOf(lab)).toEqual(nothingLeft);
  });

  it('runs beside a stream, untouched by it (seed 003: trigger unchanged)', async () => {
    await using lab = await providerLab();
    const deltas = all(lab.agent.triggerStream(triggerOf('one')));
    await lab.acknowledged();
    const answer = lab.agent.trigger(triggerOf('two'));
    await lab.acknowledged(2);
    lab.server.agent('r-1', 'assistant', { text: 'streamed' });
    lab.server.agent('r-1', 'lifecycle', { phase: 'end' });
    lab.server.chat('r-1', 'final', 'streamed');
    lab.server.agent('r-2', 'assistant', { text: 'whole' });
    lab.server.agent('r-2', 'lifecycle', { phase: 'end' });
    lab.server.chat('r-2', 'final', 'whole');
    expect((await deltas).at(-1)).toEqual({ phase: 'final', content: 'streamed' });
    expect(await answer).toEqual({ status: 'answered', parts: ['whole'] });
  });

  it.each([
    ['without a message', undefined],
    ['with an empty one', '  '],
  ])('has no parts after a final %s (facts 4.4)', async (_what, text) => {
    await using lab = await providerLab();
    const answer = lab.agent.trigger(triggerOf('hello'));
    await lab.acknowledged();
    lab.server.chat('r-1', 'delta', 'NO');
    lab.server.chat('r-1', 'final', text);
    expect(await answer).toEqual({ status: 'answered', parts: [] });
  });

  it.each([
    ['error', { errorMessage: 'overloaded' }, 'overloaded'],
    ['aborted', {}, 'the run was stopped'],
  ])('fails, and does not throw, where the chat says %s', async (state, fields, error) => {
    await using lab = await providerLab();
    const answer = lab.agent.trigger(triggerOf('hello'));
    await lab.acknowledged();
    lab.server.chat('r-1', state, undefined, fields);
    expect(await answer).toEqual({ status: 'failed', error, reachedAgent: true });
  });

  it('fails for an answer above 1 MiB, and stops the agent (facts 4.1)', async () => {
    await using lab = await providerLab();
    const answer = lab.agent.trigger(triggerOf('hello'));
    await lab.acknowledged();
    lab.server.chat('r-1', 'delta', 'é'.repeat(524_289));
    expect(await answer).toMatchObject({ status: 'failed', reachedAgent: true });
    await until(() => lab.server.sent('chat.abort').length === 1);
  });

  it('fails where it takes too long, where it is aborted, and where nobody can be reached', async () => {
    await using lab = await providerLab({ agent: { agentTimeoutMs: 60 } });
    const late = lab.agent.trigger(triggerOf('hello'));
    await lab.acknowledged();
    await lab.clock.advance(60);
    expect(await late).toMatchObject({ status: 'failed', reachedAgent: true });
    for (const name of ['signal', 'abortSignal'] as const) {
      const stopped = new AbortController();
      const sent = lab.server.sent('chat.send').length;
      const aborted = lab.agent.trigger(triggerOf('hello', { [name]: stopped.signal }));
      await until(() => lab.server.sent('chat.send').length > sent);
      stopped.abort();
      expect(await aborted).toMatchObject({ status: 'failed', error: 'the run was stopped' });
    }
    await lab.client.stop();
    expect(await lab.agent.trigger(triggerOf('hello'))).toMatchObject({ reachedAgent: false });
    expect(await lab.agent.trigger(triggerOf('x'.repeat(102_401)))).toMatchObject({
      reachedAgent: false,
      error: expect.stringContaining('102401 bytes'),
    });
    expect(await lab.agent.trigger(triggerOf(''))).toEqual({ status: 'answered', parts: [] });
    expect(leftOf(lab)).toEqual(nothingLeft);
  });
});

describe('the message and its session (stream §4.2)', () => {
  const sent = async (trigger: ReturnType<typeof triggerOf>, agent = {}) => {
    await using lab = await providerLab({ agent });
    const answer = lab.agent.trigger(trigger);
    await lab.acknowledged();
    lab.server.chat('r-1', 'final', 'ok');
    await answer;
    return lab.server.sent('chat.send')[0]?.params ?? {};
  };
  const named = (displayName: string) => ({ sender: { platformUserId: 'u', displayName } });

  it.each([
    ['[Ada]: hi', named('Ada'), {}],
    ['hi', named('Ada'), { prefixSender: false }],
    ['hi', named(' '), {}],
    ['[Ada: admin]: hi', named('[Ada]\n: admin'), {}], // nobody gets out of the brackets
  ])('is %j', async (message, fields, agent) => {
    expect((await sent(triggerOf('hi', fields), agent)).message).toBe(message);
  });

  it.each([
    ['agent:main:sluice-s-1', 's-1', {}],
    ['agent:main:sluice-c-1', '', {}],
    ['own:s-1', 's-1', { sessionKey: (id: string) => `own:${id}` }],
  ])('has the key %s', async (key, sessionId, agent) => {
    expect((await sent(triggerOf('hi', { sessionId }), agent)).sessionKey).toBe(key);
  });

  it('has a key that holds any id, and another for each', async () => {
    const ids = ['a:b', 'a/b', 'a\\b', 'a-b', 'a\u0000-b', '😀'.repeat(300), '😀'.repeat(301)];
    const keys = [];
    for (const sessionId of ids)
      keys.push(String((await sent(triggerOf('hi', { sessionId }))).sessionKey));
    expect(new Set(keys).size).toBe(ids.length);
    for (const key of keys) expect(key).toMatch(/^agent:main:sluice-[^:/\\\p{Cc}]{1,512}$/u);
  });
});

describe('the options of a provider', () => {
  it.each([
    ['agentId', { agentId: 'a b' }],
    ['agentId', { agentId: '' }],
    ['agentTimeoutMs', { agentTimeoutMs: 0 }],
    ['idleTimeoutMs', { idleTimeoutMs: -1 }],
    ['errorGraceMs', { errorGraceMs: -1 }],
    ['circuit.threshold', { circuit: { threshold: 0 } }],
  ])('refuse a wrong %s: %o', async (option, wrong) => {
    await using lab = await providerLab({ idle: true });
    const make = () => new OpenClawAgentProvider({ client: lab.client, agentId: 'main', ...wrong });
    expect(make).toThrow(expect.objectContaining({ code: 'bad-client-option' }));
    expect(make).toThrow(`"${option}"`);
  });
});

describe('the circuit (stream §5)', () => {
  const fail = async (lab: Awaited<ReturnType<typeof providerLab>>, how = 'time') => {
    const count = lab.server.sent('chat.send').length + 1;
    const deltas = all(lab.agent.triggerStream(triggerOf('hello')));
    await lab.acknowledged(count);
    if (how === 'time') await lab.clock.advance(60);
    else lab.server.agent(`r-${count}`, 'lifecycle', { phase: 'error', error: 'of the agent' });
    return deltas;
  };
  const end = async (lab: Awaited<ReturnType<typeof providerLab>>) => {
    const count = lab.server.sent('chat.send').length + 1;
    const deltas = all(lab.agent.triggerStream(triggerOf('hello')));
    await lab.acknowledged(count);
    lab.server.agent(`r-${count}`, 'lifecycle', { phase: 'end' });
    return deltas;
  };
  const agent = { agentTimeoutMs: 60 };

  it('opens after three failures in a row: one error delta, nothing sent (facts 4.4; seed 003)', async () => {
    await using lab = await providerLab({ agent });
    for (let time = 0; time < 3; time++) await fail(lab);
    expect(lab.agent.circuit).toBe('open');
    const deltas = await all(lab.agent.triggerStream(triggerOf('hello')));
    expect(deltas).toEqual([
      { phase: 'error', error: expect.stringContaining('temporarily unavailable') },
    ]);
    expect(await lab.agent.trigger(triggerOf('hello'))).toMatchObject({
      status: 'failed',
      reachedAgent: false,
    });
    expect(lab.server.sent('chat.send')).toHaveLength(3);
  });

  it('counts failures in a row only, of trigger and triggerStream together', async () => {
    await using lab = await providerLab({ agent });
    await fail(lab);
    await fail(lab);
    await end(lab);
    await fail(lab);
    await fail(lab);
    expect(lab.agent.circuit).toBe('closed');
    const answer = lab.agent.trigger(triggerOf('hello'));
    await lab.acknowledged(6);
    await lab.clock.advance(60);
    await answer;
    expect(lab.agent.circuit).toBe('open');
  });

  it('lets one through after the cool-down; the others wait for nothing meanwhile (defect: no half-open)', async () => {
    await using lab = await providerLab({ agent });
    for (let time = 0; time < 3; time++) await fail(lab);
    await lab.clock.advance(29_999);
    expect(await all(lab.agent.triggerStream(triggerOf('hello')))).toHaveLength(1);
    expect(lab.server.sent('chat.send')).toHaveLength(3);
    await lab.clock.advance(1);
    const trial = all(lab.agent.triggerStream(triggerOf('hello')));
    await lab.acknowledged(4);
    expect(lab.agent.circuit).toBe('trial');
    expect(await all(lab.agent.triggerStream(triggerOf('hello')))).toMatchObject([
      { error: expect.stringContaining('temporarily unavailable') },
    ]);
    lab.server.agent('r-4', 'lifecycle', { phase: 'end' });
    await trial;
    expect(lab.agent.circuit).toBe('closed');
    expect(await end(lab)).toHaveLength(1);
  });

  it('opens again where the trial fails, and where it is given up before anything was heard', async () => {
    await using lab = await providerLab({ agent });
    for (let time = 0; time < 3; time++) await fail(lab);
    await lab.clock.advance(30_000);
    await fail(lab);
    expect(lab.agent.circuit).toBe('open');
    await lab.clock.advance(30_000);
    const stream = lab.agent.triggerStream(triggerOf('hello'));
    const pending = stream.next();
    await lab.acknowledged(5);
    await stream.return(undefined);
    await pending;
    expect(lab.agent.circuit).toBe('open');
  });

  it('does not count errors of the agent, unless it is told to (defect: they opened it)', async () => {
    await using lab = await providerLab({ agent });
    for (let time = 0; time < 4; time++) await fail(lab, 'agent');
    expect(lab.agent.circuit).toBe('closed');
    await using strict = await providerLab({ agent: { circuit: { countAgentErrors: true } } });
    for (let time = 0; time < 3; time++) await fail(strict, 'agent');
    expect(strict.agent.circuit).toBe('open');
  });

  it('counts nothing for one who leaves', async () => {
    await using lab = await providerLab({ agent: { ...agent, circuit: { threshold: 1 } } });
    const stream = lab.agent.triggerStream(triggerOf('hello'));
    const pending = stream.next();
    await lab.acknowledged();
    await stream.return(undefined);
    await pending;
    expect(lab.agent.circuit).toBe('closed');
  });
});
