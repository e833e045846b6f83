import { virtualClock } from 'sluice/testing';
import { describe, expect, it } from 'vitest';
import { type AgentLab, agentLab } from './agent-lab.js';
import { type Answer, calls, fails, open, part, parts, says, write } from './model-server.js';

/** The one line that tells operators how a turn has failed. */
function errorOf(lab: AgentLab): unknown {
  return lab.test.of('agent.llm.output').at(-1)?.payload.error;
}

async function failing(answer: Answer, settings: object = {}) {
  await using lab = await agentLab([answer], { agent: { attempts: 1, ...settings } });
  const { status } = await lab.test.say('hello');
  return { status, error: errorOf(lab), asked: lab.asked.length };
}

describe('a fault of the model server ends the turn, and says which', () => {
  it.each<[string, Answer, RegExp]>([
    [
      'a part that is no JSON',
      parts({ content: 'a' }, 'data: {"cho\n\n'),
      /^broken-stream: a part is no JSON/,
    ],
    ['a part that is no object', parts('data: 7\n\n'), /^broken-stream: a part is no object/],
    [
      'an error in the stream',
      parts({ content: 'a' }, { error: { message: 'overloaded', code: 503 } }),
      /^server-error: overloaded/,
    ],
    [
      'a stream that ends before its answer',
      (response) => {
        open(response);
        write(response, { content: 'Well' });
        response.end();
      },
      /^cut-stream: the answer ended in its middle/,
    ],
    [
      'a connection that breaks',
      (response) => {
        open(response);
        write(response, { content: 'Well' });
        setImmediate(() => response.destroy());
      },
      /^cut-stream: /,
    ],
    [
      'an error in the stream about its context',
      parts({ error: { message: 'exceeds the available context size', code: 400 } }),
      /^context-length: exceeds/,
    ],
    [
      'a word that is too long, which is not about the context',
      fails(400, { message: "'tools[0].name': string too long" }),
      /^refused: HTTP 400/,
    ],
    [
      'no answer at all',
      (response) => void response.destroy(),
      /^unreachable: http:\/\/127\.0\.0\.1:\d+: /,
    ],
    ['an answer without choices', parts({ choices: [] }), /^no-choices: /],
    [
      'a whole answer without choices',
      (response) => {
        response.writeHead(200, { 'content-type': 'application/json' });
        response.end('{"id":"c-1"}');
      },
      /^no-choices: /,
    ],
    ['a page that is no answer', (response) => void response.end('<html>'), /^broken-stream: /],
    [
      'a key that is refused',
      fails(401, { message: 'bad key' }),
      /^authentication: HTTP 401: bad key/,
    ],
    [
      'a request that is refused',
      fails(400, { message: 'no such\nmodel' }),
      /^refused: HTTP 400: no such model/,
    ],
    ['a quota that is used up', fails(429, { code: 'insufficient_quota' }), /^refused: HTTP 429/],
    ['too many requests', fails(429, { message: 'slow down' }), /^rate-limit: HTTP 429: slow down/],
    ['a server that is down', fails(503), /^server-error: HTTP 503/],
    [
      'a server that sends the prompt elsewhere',
      fails(307, {}, { location: 'http://127.0.0.1:1/v1/chat/completions' }),
      /^unreachable: .*redirect/,
    ],
    [
      'an answer that is kept back',
      parts({ content: 'a' }, part({}, 'content_filter')),
      /^content-filter: /,
    ],
  ])('%s', async (_, answer, error) => {
    const end = await failing(answer);
    expect(end).toMatchObject({ status: 'failed', asked: 1 });
    expect(String(end.error)).toMatch(error);
  });

  it('an answer of more bytes than allowed', async () => {
    const endless: Answer = async (response) => {
      open(response);
      const line = JSON.stringify(part({ content: 'x'.repeat(60_000) }));
      while (!response.destroyed) {
        response.write(`data: ${line}\n\n`);
        await new Promise(setImmediate);
      }
    };
    const { error } = await failing(endless, { maxAnswerBytes: 1_000_000 });
    expect(error).toBe('too-long: the answer has more than 1000000 bytes');
  });

  it('a line that never ends', async () => {
    const endless: Answer = async (response) => {
      open(response);
      while (!response.destroyed) {
        response.write(`data: ${'x'.repeat(60_000)}`);
        await new Promise(setImmediate);
      }
    };
    const { error } = await failing(endless, { maxAnswerBytes: 1_000_000 });
    expect(error).toBe('too-long: the answer has more than 1000000 bytes');
  });

  it('a server that falls silent', async () => {
    const clock = virtualClock();
    let isAsked = (): void => undefined;
    const asked = new Promise<void>((resolve) => {
      isAsked = resolve;
    });
    const silent: Answer = (response) => {
      open(response);
      write(response, { content: 'Well' });
      isAsked();
    };
    const settings = { agent: { attempts: 1, idleTimeoutMs: 5_000 } };
    await using lab = await agentLab([silent], settings, { clock });
    const said = lab.test.say('hello');
    await asked;
    while (lab.test.of('agent.output.delta').length === 0) await new Promise(setImmediate);
    await clock.advance(5_000);
    expect(await said).toMatchObject({ status: 'failed' });
    expect(errorOf(lab)).toBe('timed-out: the server said nothing for 5000 ms (idleTimeoutMs)');
  });

  it('what was said before the fault is in the transcript, marked', async () => {
    const cut: Answer = (response) => {
      open(response);
      write(response, { content: 'Well, ' });
      response.end();
    };
    await using lab = await agentLab([cut], { agent: { attempts: 1 } });
    await lab.test.say('hello');
    const [, message] = await lab.test.transcript();
    expect(message).toMatchObject({
      content: [{ type: 'text', text: 'Well, ' }],
      stopReason: 'error',
      errorMessage: 'cut-stream: the answer ended in its middle, without a finish_reason',
    });
  });
});

describe('a fault that may pass is tried again, as the definition of the agent says', () => {
  it('after the time that the server asks for', async () => {
    const clock = virtualClock();
    await using lab = await agentLab(
      [fails(429, {}, { 'retry-after': '7' }), says('Here I am.')],
      {},
      { clock },
    );
    const said = lab.test.say('hello');
    while (lab.test.of('agent.llm.output').length === 0) await new Promise(setImmediate);
    await clock.advance(6_999);
    expect(lab.asked).toHaveLength(1);
    await clock.advance(1);
    expect(await said).toMatchObject({ status: 'answered' });
    expect(lab.test.replies()).toEqual(['Here I am.']);
  });

  it('also with a date, and not at all if that is too late', async () => {
    const clock = virtualClock();
    const at = new Date(clock.now() + 3_600_000).toUTCString();
    await using lab = await agentLab([fails(503, {}, { 'retry-after': at })], {}, { clock });
    expect(await lab.test.say('hello')).toMatchObject({ status: 'failed' });
    expect(lab.asked).toHaveLength(1);
  });

  it('as often as the settings say', async () => {
    const clock = virtualClock();
    await using lab = await agentLab([fails(500)], { agent: { attempts: 2 } }, { clock });
    const said = lab.test.say('hello');
    while (lab.test.of('agent.llm.output').length === 0) await new Promise(setImmediate);
    await clock.advance(1_000);
    expect(await said).toMatchObject({ status: 'failed' });
    expect(lab.asked).toHaveLength(2);
  });

  it('also if the model has said nothing (event-pipeline §16.28)', async () => {
    const thinks = parts({ content: null, reasoning: 'Sunny, I say.' }, part({}, 'stop'));
    await using lab = await agentLab([thinks, thinks, says('Sunny.')]);
    expect(await lab.test.say('weather?')).toMatchObject({ status: 'answered' });
    expect(lab.test.replies()).toEqual(['Sunny.']);
    await using silent = await agentLab([thinks]);
    expect(await silent.test.say('weather?')).toMatchObject({ status: 'failed' });
    expect(silent.asked).toHaveLength(3);
    expect(silent.test.replies()).toEqual(['This message could not be answered (said-nothing).']);
  });

  it.each<[string, readonly Answer[]]>([
    ['a fault that does not pass', [fails(401)]],
    ['a fault after a text', [parts({ content: 'Well' }, { error: { message: 'down' } })]],
    ['a fault after a tool', [calls(['none', {}]), fails(500)]],
  ])('but not %s', async (_, answers) => {
    await using lab = await agentLab(answers);
    expect(await lab.test.say('hello')).toMatchObject({ status: 'failed' });
    expect(lab.asked).toHaveLength(answers.length);
  });
});

describe('a call that no tool can answer', () => {
  it.each([
    ['arguments that are no JSON', ['weather', '{"city":'], 'its arguments are no JSON object'],
    ['arguments that are no object', ['weather', '["Rome"]'], 'its arguments are no JSON object'],
    ['a tool that is not there', ['wether', { city: 'Rome' }], 'there is no tool "wether"'],
    ['no name', ['', {}], 'the call names no tool'],
  ] as const)('%s: the model is told, and goes on', async (_, call, problem) => {
    await using lab = await agentLab([calls(call), says('I see.')]);
    expect(await lab.test.say('hello')).toMatchObject({ status: 'answered' });
    expect(lab.test.replies()).toEqual(['I see.']);
    const [, , result] = lab.asked[1]?.body.messages ?? [];
    expect(result).toMatchObject({ role: 'tool', content: expect.stringContaining(problem) });
  });

  it('a turn has so many answers with calls at most', async () => {
    await using lab = await agentLab([calls(['none', {}])], { agent: { maxRounds: 3 } });
    expect(await lab.test.say('hello')).toMatchObject({ status: 'failed' });
    expect(lab.asked).toHaveLength(3);
    expect(errorOf(lab)).toBe('too-many-rounds: 3 answers have called tools (maxRounds)');
  });

  it('ids that a server gives twice do not meet', async () => {
    await using lab = await agentLab([calls(['a', {}]), calls(['b', {}]), says('Done.')]);
    await lab.test.say('hello');
    const called = lab.test.of('agent.tool.called').map(({ payload }) => payload);
    expect(called.map(({ toolName }) => toolName)).toEqual(['a', 'b']);
    expect(new Set(called.map(({ toolCallId }) => toolCallId)).size).toBe(2);
  });
});
