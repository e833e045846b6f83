import { once } from 'node:events';
import { connect } from 'node:net';
import { ask, defineExtension } from 'sluice';
import { scriptedAgent } from 'sluice/testing';
import { describe, expect, it, vi } from 'vitest';
import { eventsIn, type HttpLab, httpLab, saying, steppedAgent, textOf } from './http-lab.js';

const soon = { timeout: 60_000 };

/** Asks for an answer, and reads nothing of it. */
async function deafReader({ url }: HttpLab, text: string, stream = true) {
  const { hostname, port, host } = new URL(url);
  const body = JSON.stringify(saying(text, { stream }));
  const socket = connect(Number(port), hostname);
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  socket.pause();
  const head = `POST /v1/chat/completions HTTP/1.1\r\nhost: ${host}\r\ncontent-length: ${body.length}`;
  socket.write(`${head}\r\n\r\n${body}`);
  return {
    /** Reads all that there is. @returns how much that was. */
    read: async () => {
      const closed = once(socket, 'close');
      socket.resume();
      await closed;
      return socket.bytesRead;
    },
    [Symbol.dispose]: () => void socket.destroy(),
  };
}

describe('a reader who takes nothing', () => {
  it('blocks nobody: the answer is sent, and the lane is free (http §3.5)', async () => {
    const long = 'x'.repeat(12_000_000);
    const agent = scriptedAgent([[long], ['Short.']]);
    await using lab = await httpLab({}, { agents: [{ id: 'main', provider: agent }] });
    using _deaf = await deafReader(lab, 'one');
    await vi.waitFor(() => expect(lab.test.ends).toHaveLength(1), soon);
    const more = {
      messages: [
        { role: 'user', content: 'one' },
        { role: 'user', content: 'two' },
      ],
    };
    expect(await textOf(await lab.ask(saying('', more)))).toBe('Short.');
  });

  it('is cut off while his agent works, and his turn is stopped (http §3.5, http §3.6)', async () => {
    const agent = steppedAgent(Array.from({ length: 30 }, () => 'x'.repeat(1_000_000)));
    await using lab = await httpLab({}, { agents: [{ id: 'main', provider: agent.provider }] });
    using _deaf = await deafReader(lab, 'one');
    await agent.begun;
    await vi.waitFor(async () => {
      agent.step();
      await lab.test.clock.advance(15_000);
      expect(agent.isStopped()).toBe(true);
    }, soon);
    await vi.waitFor(
      () => expect(lab.test.ends).toContainEqual(expect.objectContaining({ status: 'aborted' })),
      soon,
    );
  });
});

describe('a reader who takes nothing of an answer that is whole', () => {
  it('is cut off at the second sign of life, and no connection is held (http §3.5)', async () => {
    const long = 'x'.repeat(12_000_000);
    const agent = scriptedAgent([[long]]);
    await using lab = await httpLab({}, { agents: [{ id: 'main', provider: agent }] });
    using deaf = await deafReader(lab, 'one');
    await vi.waitFor(() => expect(lab.test.ends).toHaveLength(1), soon);
    await lab.test.clock.advance(15_000);
    await lab.test.clock.advance(15_000);
    expect(await deaf.read()).toBeLessThan(long.length);
  });

  it('is cut off after a minute if it is no stream (http §3.5)', async () => {
    const long = 'x'.repeat(12_000_000);
    const agent = scriptedAgent([[long]]);
    await using lab = await httpLab({}, { agents: [{ id: 'main', provider: agent }] });
    using deaf = await deafReader(lab, 'one', false);
    await vi.waitFor(() => expect(lab.test.ends).toHaveLength(1), soon);
    await lab.test.clock.advance(60_000);
    expect(await deaf.read()).toBeLessThan(long.length);
  });

  it('gets all of it if he reads, however long it is (http §3.5)', async () => {
    const long = 'x'.repeat(12_000_000);
    const agent = scriptedAgent([[long]]);
    await using lab = await httpLab({}, { agents: [{ id: 'main', provider: agent }] });
    const text = await (await lab.ask(saying('one', { stream: true }))).text();
    expect(text.slice(0, 300), JSON.stringify(lab.test.log)).toContain('xxx');
    expect(text.length).toBeGreaterThan(long.length);
    expect(text).toContain('data: [DONE]');
  });
});

describe('a reader who goes', () => {
  it.each([true, false])('has his turn stopped; streamed: %s (http §3.6)', async (stream) => {
    const agent = steppedAgent(['One ', 'two.']);
    await using lab = await httpLab({}, { agents: [{ id: 'main', provider: agent.provider }] });
    const leaving = new AbortController();
    const left = fetch(`${lab.url}/v1/chat/completions`, {
      ...{ method: 'POST', signal: leaving.signal },
      body: JSON.stringify(saying('hi', { stream })),
    }).then((answer) => answer.text());
    left.catch(() => undefined);
    await agent.begun;
    leaving.abort();
    await vi.waitFor(() => expect(agent.isStopped()).toBe(true), soon);
    await expect(left).rejects.toThrow();
    await vi.waitFor(
      () => expect(lab.test.ends).toContainEqual(expect.objectContaining({ status: 'aborted' })),
      soon,
    );
    expect(lab.test.of('egress.failed')).toEqual([]);
  });
});

describe('a stream', () => {
  it('lives while nothing comes (http §3.2)', async () => {
    const agent = steppedAgent(['One.']);
    await using lab = await httpLab({}, { agents: [{ id: 'main', provider: agent.provider }] });
    const asked = lab.ask(saying('hi', { stream: true }));
    await agent.begun;
    await lab.test.clock.advance(15_000);
    const answer = await asked; // its head has come, and nothing of the agent
    agent.step();
    const text = await answer.text();
    expect(text).toMatch(/^: it is being made\n\n/);
    expect(eventsIn(text).length).toBeGreaterThan(1);
  });

  it('shows what is said before a tool, and after it (http §3.1)', async () => {
    const agent = scriptedAgent([['Let me look.', { tool: 'search' }, 'It is green.']]);
    await using lab = await httpLab({}, { agents: [{ id: 'main', provider: agent }] });
    const text = await (await lab.ask(saying('hi', { stream: true }))).text();
    const deltas = eventsIn(text).map((event) => Object(event).choices[0].delta.content ?? '');
    expect(deltas.join('')).toBe('Let me look.\n\nIt is green.');
    expect(text).toContain('data: [DONE]');
  });

  it('ends with an error if the answer is another than what was shown (http §3.3)', async () => {
    const agent = steppedAgent(['One ', 'two.']);
    const late = defineExtension({
      id: 'late',
      setup: (api) =>
        api.mutate('egress.preparing', 'change', { preview: 'ok' }, ({ payload }) =>
          payload.streaming ? {} : { content: 'Other.' },
        ),
    });
    await using lab = await httpLab(
      {},
      { agents: [{ id: 'main', provider: agent.provider }], extensions: [late] },
    );
    const asked = lab.ask(saying('hi', { stream: true }));
    await agent.begun;
    agent.step();
    const answer = await asked;
    const stepping = setInterval(agent.step, 1);
    const events = eventsIn(await answer.text());
    clearInterval(stepping);
    expect(events.at(-1)).toMatchObject({ error: { code: 'taken-back' } });
    expect(JSON.stringify(events)).not.toContain('Other');
  });
});

it('a question to a human is seen in the stream that is open, and answered by another request (http §3.7)', async () => {
  const agent = scriptedAgent([[{ tool: 'Bash', result: 'done' }, 'It is done.']]);
  const guard = defineExtension({
    id: 'guard',
    setup: (api) =>
      api.veto('agent.tool.calling', 'ask', () => ask({ title: 'May it?', of: { role: 'boss' } })),
  });
  const sha256 = '2bb80d537b1da3e38bd30361aa855686bde0eacd7162fef6a25fe97bf527a25b'; // of "secret"
  await using lab = await httpLab(
    { keys: [{ name: 'ada', sha256 }] },
    {
      agents: [{ id: 'main', provider: agent }],
      extensions: [guard],
      roles: { boss: ['http:ada'] },
    },
  );
  const headers = { authorization: 'Bearer secret', 'x-sluice-conversation': 'c-1' };
  const answer = await lab.ask(saying('do it', { stream: true }), headers);
  const reader = answer.body?.pipeThrough(new TextDecoderStream()).getReader();
  let seen = '';
  while (!seen.includes('/approve')) seen += (await reader?.read())?.value;
  const [command = ''] = /\/approve \w+/.exec(seen) ?? [];
  expect((await lab.ask(saying(`${command} yes`), headers)).status).toBe(200);
  for (let part = await reader?.read(); part?.done === false; part = await reader?.read())
    seen += part.value;
  expect(seen).toContain('It is done.');
});
