import { describe, expect, it } from 'vitest';
import {
  type AgentEventPayload,
  hasReachedAgent,
  type StreamDelta,
} from '../../../src/openclaw/gateway/index.js';
import { labToken } from '../../support/gateway-lab.js';
import { until } from '../../support/gateway-server.js';
import {
  all,
  type ProviderLab as Lab,
  leftOf,
  nothingLeft,
  providerLab,
  triggerOf,
} from '../../support/provider-lab.js';

describe('triggerStream', () => {
  it('yields thinking, content and final, 10 ms apart (stream §4.4; facts 4.4; seed 003)', async () => {
    await using lab = await providerLab();
    const { deltas } = await lab.asked();
    lab.server.agent('r-1', 'lifecycle', { phase: 'start', startedAt: 1 });
    lab.server.agent('r-1', 'thinking', { text: 'thinking…', delta: 'thinking…' });
    await lab.settled();
    await lab.clock.advance(10);
    lab.server.agent('r-1', 'assistant', { text: 'Hello world', delta: 'Hello world' });
    await lab.settled();
    await lab.clock.advance(10);
    lab.server.agent('r-1', 'lifecycle', { phase: 'end', endedAt: 2 });
    expect(await deltas).toEqual([
      { phase: 'thinking', thinking: 'thinking…', thinkingElapsedMs: 0 },
      {
        phase: 'content',
        content: 'Hello world',
        thinking: 'thinking…',
        thinkingDurationMs: 10,
      },
      { phase: 'final', content: 'Hello world', thinking: 'thinking…', thinkingDurationMs: 10 },
    ]);
    expect(leftOf(lab)).toEqual(nothingLeft);
    await lab.clock.advance(1_000); // what is kept for runs to come is let go
    expect(lab.clock.pending).toBe(1); // the client's own watch over its connection
  });

  it('sends the message once, into a session of its own, and does not have the gateway deliver it (stream §4.2)', async () => {
    await using lab = await providerLab();
    const stream = lab.agent.triggerStream(
      triggerOf('hello', { sender: { platformUserId: 'u', displayName: 'Ada' } }),
    );
    expect(lab.server.requests).toEqual([]); // nothing before the first next()
    const deltas = all(stream);
    await lab.acknowledged();
    expect(lab.server.sent('chat.send').map(({ params }) => params)).toEqual([
      {
        sessionKey: 'agent:main:sluice-s-1',
        message: '[Ada]: hello',
        deliver: false,
        idempotencyKey: 'r-1',
      },
    ]);
    lab.server.agent('r-1', 'lifecycle', { phase: 'end' });
    await deltas;
    expect(lab.server.sent('chat.abort')).toEqual([]);
  });

  it('gives one final with empty content where the agent says nothing (facts 4.2)', async () => {
    await using lab = await providerLab();
    const { deltas } = await lab.asked();
    lab.server.agent('r-1', 'lifecycle', { phase: 'end' });
    expect(await deltas).toEqual([{ phase: 'final', content: '' }]);
  });

  it('replaces by snapshots, and never reads an increment alone (stream §4.4)', async () => {
    await using lab = await providerLab();
    const stream = lab.agent.triggerStream(triggerOf('hello'));
    const seen: StreamDelta[] = [];
    const reading = (async () => {
      for await (const delta of stream) seen.push(delta);
    })();
    await lab.acknowledged();
    for (const data of [
      { text: 'He', delta: 'He' },
      { delta: 'llo' },
      { text: 'Hello', delta: 'llo' },
    ]) {
      lab.server.agent('r-1', 'assistant', data);
      await lab.settled();
    }
    lab.server.agent('r-1', 'lifecycle', { phase: 'end' });
    await reading;
    expect(seen).toEqual([
      { phase: 'content', content: 'He' },
      { phase: 'content', content: 'Hello' },
      { phase: 'final', content: 'Hello' },
    ]);
  });

  it.each([
    [undefined, 'It is 5.', 'It'],
    ['all', 'Let me see.\n\nIt is 5.', 'Let me see.\n\nIt'],
  ] as const)(
    'has the last of several messages, or all of them where that is asked for: %s (stream §4.4)',
    async (messages, content, partly) => {
      await using lab = await providerLab({ agent: messages === undefined ? {} : { messages } });
      const seen: StreamDelta[] = [];
      const reading = (async () => {
        for await (const delta of lab.agent.triggerStream(triggerOf('hello'))) seen.push(delta);
      })();
      await lab.acknowledged();
      for (const data of [
        { text: 'Let me', delta: 'Let me' },
        { text: 'Let me see.', delta: ' see.' },
        { text: 'It', delta: 'It' },
        { text: 'It is 5.', delta: ' is 5.' },
      ]) {
        lab.server.agent('r-1', 'assistant', data);
        await lab.settled();
      }
      lab.server.agent('r-1', 'lifecycle', { phase: 'end' });
      await reading;
      expect(seen.at(2)).toEqual({ phase: 'content', content: partly });
      expect(seen.at(-1)).toEqual({ phase: 'final', content });
    },
  );

  it('keeps the duration of the first content where more is thought later (facts 4.2)', async () => {
    await using lab = await providerLab();
    const seen: StreamDelta[] = [];
    const reading = (async () => {
      for await (const delta of lab.agent.triggerStream(triggerOf('hello'))) seen.push(delta);
    })();
    await lab.acknowledged();
    const steps = [
      ['thinking', 'a'],
      ['assistant', 'A'],
      ['thinking', 'ab'],
      ['assistant', 'AB'],
    ] as const;
    for (const [stream, text] of steps) {
      lab.server.agent('r-1', stream, { text });
      await lab.settled();
      await lab.clock.advance(100);
    }
    lab.server.agent('r-1', 'lifecycle', { phase: 'end' });
    await reading;
    expect(seen.slice(2)).toEqual([
      { phase: 'thinking', thinking: 'ab', thinkingElapsedMs: 200 },
      { phase: 'content', content: 'AB', thinking: 'ab', thinkingDurationMs: 100 },
      { phase: 'final', content: 'AB', thinking: 'ab', thinkingDurationMs: 100 },
    ]);
  });

  it('ends with zero deltas where nothing is said, and sends nothing (facts 4.2)', async () => {
    await using lab = await providerLab();
    expect(await all(lab.agent.triggerStream(triggerOf(' ')))).toEqual([]);
    expect(lab.server.requests).toEqual([]);
  });

  it('puts a reaction in a sentence (facts 4.4)', async () => {
    await using lab = await providerLab();
    const content = { emoji: '👍', referencedMessageId: 'm-7' };
    const { deltas } = await lab.asked('', { type: 'reaction', content });
    expect(lab.server.sent('chat.send')[0]?.params.message).toBe(
      '(reacted with 👍 to message m-7)',
    );
    lab.server.agent('r-1', 'lifecycle', { phase: 'end' });
    await deltas;
  });

  it('refuses 101 KiB with one error that reached nobody, and does not count it (facts 4.4)', async () => {
    await using lab = await providerLab();
    for (let time = 0; time < 4; time++) {
      const [delta, ...more] = await all(
        lab.agent.triggerStream(triggerOf('x'.repeat(101 * 1024))),
      );
      expect(more).toEqual([]);
      expect(delta).toMatchObject({ phase: 'error', error: expect.stringContaining('too long') });
      expect(delta && hasReachedAgent(delta)).toBe(false);
    }
    expect(lab.agent.circuit).toBe('closed');
    expect(lab.server.requests).toEqual([]);
  });

  it('never makes deltas of tool events: a tap gets them (stream §4.3)', async () => {
    const tools: AgentEventPayload[] = [];
    await using lab = await providerLab({ agent: { onTool: (event) => void tools.push(event) } });
    const { deltas } = await lab.asked();
    lab.server.agent('r-1', 'tool', { phase: 'start', name: 'read', toolCallId: 't-1', args: {} });
    lab.server.agent('r-1', 'tool', { phase: 'result', name: 'read', toolCallId: 't-1' });
    lab.server.agent('r-1', 'lifecycle', { phase: 'end' });
    lab.server.agent('r-1', 'tool', { phase: 'start', name: 'late', toolCallId: 't-2' }); // fault 42
    expect(await deltas).toEqual([{ phase: 'final', content: '' }]);
    await lab.settled();
    expect(tools.map(({ data }) => data.phase)).toEqual(['start', 'result']);
    expect(lab.client.stats().unroutedEvents).toBeGreaterThanOrEqual(1);
  });

  it('keeps 256 Ki characters of a text, cut between characters (defect: cut in a pair)', async () => {
    await using lab = await providerLab();
    const { deltas } = await lab.asked();
    const text = `😀${'x'.repeat(256 * 1024 - 1)}`;
    lab.server.agent('r-1', 'assistant', { text });
    lab.server.agent('r-1', 'lifecycle', { phase: 'end' });
    const last = (await deltas).at(-1);
    expect(last).toEqual({ phase: 'final', content: 'x'.repeat(256 * 1024 - 1) });
  });

  it('says nothing of NO_REPLY, also while it grows, but says "NO" (stream §4.3)', async () => {
    await using lab = await providerLab();
    for (const [run, texts, content] of [
      ['r-1', ['NO', 'NO_RE', 'NO_REPLY'], ''],
      ['r-2', ['N', 'NO'], 'NO'],
      ['r-3', ['NO', 'NO, never'], 'NO, never'],
    ] as const) {
      const { deltas } = await lab.asked();
      for (const text of texts) lab.server.agent(run, 'assistant', { text });
      lab.server.agent(run, 'lifecycle', { phase: 'end' });
      expect((await deltas).at(-1)).toEqual({ phase: 'final', content });
      if (content === '') expect(await deltas).toHaveLength(1);
    }
  });
});

describe('the end of a run that is not its lifecycle', () => {
  const said = ({ server }: Lab, state: 'final' | 'aborted', text: string): void => {
    if (state === 'aborted') server.agent('r-1', 'assistant', { text });
    server.chat('r-1', state, text, state === 'aborted' ? { stopReason: 'stop' } : {});
  };
  const lifecycle = (lab: Lab, data: object): void =>
    lab.server.agent('r-1', 'lifecycle', { phase: 'error', ...data });

  it.each<[title: string, say: (lab: Lab) => void, last: StreamDelta]>([
    [
      'an error event (seed 003: error stream)',
      ({ server }) => server.agent('r-1', 'error', { message: 'no credit' }),
      { phase: 'error', error: 'no credit' },
    ],
    [
      'a lifecycle error with its reason',
      (lab) => lifecycle(lab, { error: 'overloaded' }),
      { phase: 'error', error: 'overloaded' },
    ],
    [
      'a lifecycle error without one',
      (lab) => lifecycle(lab, {}),
      { phase: 'error', error: 'the agent failed and gave no reason' },
    ],
    [
      'told without the secrets of the client, on one line (stream §2.9)',
      (lab) => lifecycle(lab, { error: `bad ${labToken}\nagain` }),
      { phase: 'error', error: 'bad [secret] again' },
    ],
    [
      'the final of a chat that no agent ran for, such as a command (stream §4.3)',
      (lab) => said(lab, 'final', 'all is well'),
      { phase: 'final', content: 'all is well' },
    ],
    [
      'an aborted chat: an aborted run has no lifecycle end (facts 6.2)',
      (lab) => said(lab, 'aborted', 'I am'),
      { phase: 'error', error: 'the run was stopped' },
    ],
  ])('is %s', async (_title, say, last) => {
    await using lab = await providerLab();
    const { deltas } = await lab.asked();
    say(lab);
    const delta = (await deltas).at(-1);
    expect(delta).toEqual(last);
    expect(delta && hasReachedAgent(delta)).toBe(true);
    expect(leftOf(lab)).toEqual(nothingLeft);
    expect(lab.server.sent('chat.abort')).toEqual([]);
  });

  it('waits for the retry of a failed run where there is a grace (defect: retry under the same id)', async () => {
    await using lab = await providerLab({ agent: { errorGraceMs: 15_000 } });
    const { deltas: first } = await lab.asked();
    lab.server.agent('r-1', 'lifecycle', { phase: 'error', error: 'overloaded' });
    await lab.settled();
    await lab.clock.advance(14_000);
    lab.server.agent('r-1', 'assistant', { text: 'well, then' });
    await lab.settled();
    await lab.clock.advance(14_000);
    lab.server.agent('r-1', 'lifecycle', { phase: 'end' });
    expect((await first).at(-1)).toEqual({ phase: 'final', content: 'well, then' });
    const { deltas: second } = await lab.asked();
    lab.server.agent('r-2', 'lifecycle', { phase: 'error', error: 'overloaded' });
    await lab.settled();
    await lab.clock.advance(15_000);
    expect(await second).toEqual([{ phase: 'error', error: 'overloaded' }]);
  });

  it.each<[title: string, payload: object, delta: StreamDelta]>([
    [
      'the answer to a word that stops runs, which starts none',
      { ok: true, aborted: true, runIds: [] },
      { phase: 'final', content: '' },
    ],
    [
      'an acknowledgement that says that it failed',
      { runId: 'r-1', status: 'error', summary: 'no such agent' },
      { phase: 'error', error: 'no such agent' },
    ],
  ])('is %s', async (_title, payload, delta) => {
    await using lab = await providerLab();
    lab.server.answers['chat.send'] = () => ({ payload });
    expect(await all(lab.agent.triggerStream(triggerOf('stop')))).toEqual([delta]);
  });
});

describe('a run that takes too long', () => {
  it('is one error after agentTimeoutMs, and the agent is stopped (facts 4.4; seed 003: timeout)', async () => {
    await using lab = await providerLab({ agent: { agentTimeoutMs: 60 } });
    const { deltas } = await lab.asked();
    await lab.clock.advance(60);
    expect(await deltas).toEqual([
      { phase: 'error', error: 'the agent has not ended within 60 ms' },
    ]);
    expect(leftOf(lab)).toMatchObject({ agentRuns: 0, chatRuns: 0 });
    await until(() => lab.server.sent('chat.abort').length === 1);
    expect(lab.server.sent('chat.abort')[0]?.params).toEqual({
      sessionKey: 'agent:main:sluice-s-1',
      runId: 'r-1',
    });
  });

  it('counts from the acknowledgement, whatever is heard (stream §4.6)', async () => {
    await using lab = await providerLab({ agent: { agentTimeoutMs: 100 } });
    const { deltas } = await lab.asked();
    await lab.clock.advance(99);
    lab.server.agent('r-1', 'assistant', { text: 'wait' });
    await lab.settled();
    await lab.clock.advance(1);
    expect((await deltas).at(-1)).toMatchObject({ phase: 'error' });
  });

  it('is one error after idleTimeoutMs without an event (defect: absolute only)', async () => {
    await using lab = await providerLab({ agent: { idleTimeoutMs: 100 } });
    const { deltas } = await lab.asked();
    for (let time = 0; time < 5; time++) {
      await lab.clock.advance(99);
      lab.server.agent('r-1', 'thinking', { text: 'x'.repeat(time + 1) });
      await lab.settled();
    }
    await lab.clock.advance(100);
    expect((await deltas).at(-1)).toEqual({
      phase: 'error',
      error: 'nothing was heard of the agent for 100 ms',
    });
  });

  it('is one error where no acknowledgement comes: it may have reached the agent (seed 003)', async () => {
    await using lab = await providerLab();
    lab.server.answers['chat.send'] = () => undefined;
    const deltas = all(lab.agent.triggerStream(triggerOf('hello')));
    await until(() => lab.server.sent('chat.send').length === 1);
    await lab.clock.advance(10_000);
    const [delta] = await deltas;
    expect(delta).toMatchObject({
      phase: 'error',
      error: expect.stringContaining('chat.send within 10000 ms'),
    });
    expect(delta && hasReachedAgent(delta)).toBe(true);
    await until(() => lab.server.sent('chat.abort').length === 1);
    await until(() => lab.client.stats().pendingRequests === 0);
  });

  it('is one error where there is no connection: it has not reached the agent', async () => {
    await using lab = await providerLab();
    await lab.server.down();
    await until(() => lab.client.state === 'waiting');
    const deltas = all(lab.agent.triggerStream(triggerOf('hello')));
    await lab.clock.advance(10_000);
    const [delta] = await deltas;
    expect(delta).toMatchObject({ phase: 'error' });
    expect(delta && hasReachedAgent(delta)).toBe(false);
  });

  it('is one error where the gateway refuses it: it has not reached the agent', async () => {
    await using lab = await providerLab();
    lab.server.answers['chat.send'] = () => ({
      error: { code: 'INVALID_REQUEST', message: 'missing scope: operator.write' },
    });
    const [delta, ...more] = await all(lab.agent.triggerStream(triggerOf('hello')));
    expect(delta).toMatchObject({ error: expect.stringContaining('operator.write') });
    expect(more).toEqual([]);
    expect(delta && hasReachedAgent(delta)).toBe(false);
  });

  it('is one error for the 51st run at once, which counts for nothing against the others (facts 4.2)', async () => {
    await using lab = await providerLab({ client: { maxRuns: 2 } });
    const open = [1, 2].map((run) => all(lab.agent.triggerStream(triggerOf(`${run}`))));
    await lab.acknowledged(2);
    const [delta] = await all(lab.agent.triggerStream(triggerOf('3')));
    expect(delta).toMatchObject({ error: expect.stringContaining('"r-3" is refused') });
    expect(lab.client.stats()).toMatchObject({ agentRuns: 2, chatRuns: 2 });
    for (const run of ['r-1', 'r-2']) lab.server.agent(run, 'lifecycle', { phase: 'end' });
    expect((await Promise.all(open)).map((deltas) => deltas.at(-1)?.phase)).toEqual([
      'final',
      'final',
    ]);
  });
});

describe('who reads', () => {
  it('may leave after one delta: the run is let go and the agent stopped (facts 4.4)', async () => {
    await using lab = await providerLab();
    const stream = lab.agent.triggerStream(triggerOf('hello'));
    const first = stream.next();
    await lab.acknowledged();
    lab.server.agent('r-1', 'thinking', { text: 'hm' });
    expect(await first).toMatchObject({ value: { phase: 'thinking' } });
    await stream.return(undefined);
    expect(lab.client.stats()).toMatchObject({ agentRuns: 0, chatRuns: 0 });
    await until(() => lab.server.sent('chat.abort').length === 1);
    expect(await stream.next()).toEqual({ done: true, value: undefined });
  });

  it('may leave while a delta is waited for: both calls settle at once (defect: return() waited)', async () => {
    await using lab = await providerLab();
    const stream = lab.agent.triggerStream(triggerOf('hello'));
    const pending = stream.next();
    await lab.acknowledged();
    await stream.return(undefined);
    expect(await pending).toEqual({ done: true, value: undefined });
    expect(lab.client.stats()).toMatchObject({ agentRuns: 0, chatRuns: 0 });
    await until(() => lab.server.sent('chat.abort').length === 1);
  });

  it('may leave before the first next(): nothing is sent', async () => {
    await using lab = await providerLab();
    await lab.agent.triggerStream(triggerOf('hello')).return(undefined);
    expect(lab.server.requests).toEqual([]);
  });

  it('may leave before the acknowledgement: the run is stopped all the same', async () => {
    await using lab = await providerLab();
    lab.server.answers['chat.send'] = () => undefined;
    const stream = lab.agent.triggerStream(triggerOf('hello'));
    const pending = stream.next();
    await until(() => lab.server.sent('chat.send').length === 1);
    await stream.return(undefined);
    await pending;
    await until(() => lab.server.sent('chat.abort').length === 1);
    await lab.settled();
    expect({ ...leftOf(lab), earlyEvents: 0 }).toEqual(nothingLeft);
  });

  it.each(['signal', 'abortSignal'] as const)(
    'may abort its %s: one error ends the stream, and chat.abort is sent',
    async (name) => {
      await using lab = await providerLab();
      const stop = new AbortController();
      const never = new AbortController().signal;
      const signals = { signal: never, abortSignal: never, [name]: stop.signal };
      const { deltas } = await lab.asked('hello', signals);
      lab.server.agent('r-1', 'assistant', { text: 'I am' });
      await lab.settled();
      stop.abort();
      expect((await deltas).at(-1)).toEqual({ phase: 'error', error: 'the run was stopped' });
      await until(() => lab.server.sent('chat.abort').length === 1);
    },
  );

  it('may have aborted the signal before: nothing is sent', async () => {
    await using lab = await providerLab();
    const trigger = triggerOf('hello', { signal: AbortSignal.abort() });
    const deltas = await all(lab.agent.triggerStream(trigger));
    expect(deltas).toEqual([{ phase: 'error', error: 'the run was stopped' }]);
    await lab.settled();
    expect(lab.server.sent('chat.send')).toEqual([]);
  });

  it('may be slow: three deltas wait at most, the final is never dropped (fault 40; defect: oldest dropped)', async () => {
    await using lab = await providerLab();
    const stream = lab.agent.triggerStream(triggerOf('hello'));
    const first = stream.next();
    await lab.acknowledged();
    lab.server.agent('r-1', 'thinking', { text: 'first' });
    await first;
    let text = '';
    for (let event = 0; event < 2_000; event++) {
      text += 'x';
      lab.server.agent('r-1', event % 2 === 0 ? 'thinking' : 'assistant', { text });
    }
    lab.server.agent('r-1', 'lifecycle', { phase: 'end' });
    await until(() => lab.client.stats().framesReceived > 2_002);
    await lab.settled();
    expect((await all(stream)).map(({ phase }) => phase)).toEqual(['thinking', 'content', 'final']);
  });
});

describe('early events', () => {
  it('of a run that the gateway names otherwise reach the stream (defect: lost)', async () => {
    await using lab = await providerLab();
    lab.server.answers['chat.send'] = () => {
      lab.server.agent('its-own', 'thinking', { text: 'hm' });
      lab.server.agent('its-own', 'assistant', { text: 'yes' });
      lab.server.agent('its-own', 'lifecycle', { phase: 'end' });
      lab.server.chat('its-own', 'final', 'yes');
      return { payload: { runId: 'its-own', status: 'started' } };
    };
    const deltas = await all(lab.agent.triggerStream(triggerOf('hello')));
    expect(deltas.at(-1)).toMatchObject({ phase: 'final', content: 'yes', thinking: 'hm' });
    await lab.settled();
    await lab.clock.advance(1_000);
    expect(leftOf(lab)).toEqual(nothingLeft);
  });

  it('of a run under its proposed id reach the stream before the acknowledgement', async () => {
    await using lab = await providerLab();
    lab.server.answers['chat.send'] = () => {
      lab.server.agent('r-1', 'assistant', { text: 'yes' });
      lab.server.agent('r-1', 'lifecycle', { phase: 'end' });
      return { payload: { runId: 'r-1', status: 'started' } };
    };
    const deltas = await all(lab.agent.triggerStream(triggerOf('hello')));
    expect(deltas.at(-1)).toEqual({ phase: 'final', content: 'yes' });
    expect(lab.server.sent('chat.abort')).toEqual([]);
  });
});

describe('a run whose connection is lost', () => {
  it('goes on where it comes back, with the next snapshot (stream §4.7; fault 42)', async () => {
    await using lab = await providerLab();
    lab.server.answers['agent.wait'] = () => ({ payload: { runId: 'r-1', status: 'timeout' } });
    const { deltas } = await lab.asked();
    lab.server.agent('r-1', 'assistant', { text: 'a' });
    await lab.settled();
    lab.server.drop();
    await until(() => lab.client.state === 'waiting');
    await lab.clock.advance(800);
    await until(() => lab.client.state === 'connected');
    await until(() => lab.server.sent('agent.wait').length === 1);
    lab.server.agent('r-1', 'assistant', { text: 'abc' });
    lab.server.agent('r-1', 'lifecycle', { phase: 'end' });
    expect((await deltas).at(-1)).toEqual({ phase: 'final', content: 'abc' });
    expect(lab.server.sent('chat.send')).toHaveLength(1);
  });

  it.each([
    [{ status: 'ok' }, 'the run ended while the gateway was not connected'],
    [{ status: 'error', error: 'overloaded' }, 'overloaded'],
  ])('ends with a clear error where it ended meanwhile: %o', async (answer, error) => {
    await using lab = await providerLab();
    lab.server.answers['agent.wait'] = () => ({ payload: answer });
    const { deltas } = await lab.asked();
    lab.server.drop();
    await until(() => lab.client.state === 'waiting');
    await lab.clock.advance(800);
    expect(await deltas).toEqual([{ phase: 'error', error }]);
    expect({ ...leftOf(lab), pendingRequests: 0 }).toEqual(nothingLeft);
  });

  it('ends with a clear error after the window', async () => {
    await using lab = await providerLab();
    const { deltas } = await lab.asked();
    await lab.server.down();
    await until(() => lab.client.state === 'waiting');
    await lab.clock.advance(30_000);
    expect(await deltas).toEqual([
      { phase: 'error', error: 'the gateway was not connected for 30000 ms' },
    ]);
    expect(leftOf(lab)).toEqual(nothingLeft);
  });

  it('before the acknowledgement ends at once, and is not sent again: it may have arrived', async () => {
    await using lab = await providerLab();
    lab.server.answers['chat.send'] = () => undefined;
    const deltas = all(lab.agent.triggerStream(triggerOf('hello')));
    await until(() => lab.server.sent('chat.send').length === 1);
    lab.server.drop();
    const [delta] = await deltas;
    expect(delta).toMatchObject({ phase: 'error', error: expect.stringContaining('chat.send') });
    expect(delta && hasReachedAgent(delta)).toBe(true);
    await lab.clock.advance(800);
    await until(() => lab.client.state === 'connected');
    expect(lab.server.sent('chat.send')).toHaveLength(1);
  });

  it('ends when the client is stopped', async () => {
    await using lab = await providerLab();
    const { deltas } = await lab.asked();
    await lab.client.stop();
    expect(await deltas).toEqual([{ phase: 'error', error: 'the gateway client was stopped' }]);
    expect(leftOf(lab)).toEqual(nothingLeft);
  });
});

describe('two runs', () => {
  it('of one session do not touch each other (defect: the later one was unregistered)', async () => {
    await using lab = await providerLab();
    const { deltas: first } = await lab.asked('one');
    const { deltas: second } = await lab.asked('two');
    lab.server.agent('r-1', 'assistant', { text: 'first' });
    lab.server.agent('r-1', 'lifecycle', { phase: 'end' });
    await first;
    lab.server.agent('r-2', 'assistant', { text: 'second' });
    lab.server.agent('r-2', 'lifecycle', { phase: 'end' });
    expect((await second).at(-1)).toEqual({ phase: 'final', content: 'second' });
  });

  it('that the gateway gives one id: the second is refused, and the first goes on', async () => {
    await using lab = await providerLab();
    lab.server.answers['chat.send'] = () => ({ payload: { runId: 'same', status: 'started' } });
    const { deltas: first } = await lab.asked('one');
    const second = await all(lab.agent.triggerStream(triggerOf('two')));
    expect(second).toMatchObject([{ phase: 'error', error: expect.stringContaining('"same"') }]);
    lab.server.agent('same', 'assistant', { text: 'mine' });
    lab.server.agent('same', 'lifecycle', { phase: 'end' });
    expect((await first).at(-1)).toEqual({ phase: 'final', content: 'mine' });
  });
});
