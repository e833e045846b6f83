import fc from 'fast-check';
import { virtualClock } from 'sluice/testing';
import { describe, expect, it } from 'vitest';
import { agentLab, turnOf } from './agent-lab.js';
import { done, part, reordered, repeated, scripted } from './model-server.js';

const half = { content: 'The first half' };
const usage = { choices: [], usage: { prompt_tokens: 7, completion_tokens: 2 } };
const ended = async (...steps: readonly (object | string)[]) => {
  const { text, failure } = await turnOf([scripted(steps)]);
  return failure ?? text;
};

describe('an answer is whole, or it is a failure that is told', () => {
  it.each([
    'stop',
    'length',
    'tool_calls',
    'function_call',
    'end_turn',
    'MAX_TOKENS',
    'STOP',
    'eos',
    'stop-sequence',
    'toolUse',
  ])('the word "%s" is a good end', async (word) => {
    expect(await ended(half, part({}, word))).toBe('The first half');
  });

  it.each([
    ['error', 'server-error'],
    ['abort', 'server-error'],
    ['insufficient_system_resource', 'server-error'],
    ['network_error', 'server-error'],
    ['other', 'server-error'],
    ['constructor', 'server-error'],
    ['content_filter', 'content-filter'],
    ['contentFilter', 'content-filter'],
    ['SAFETY', 'content-filter'],
    ['PROHIBITED_CONTENT', 'content-filter'],
    ['sensitive', 'content-filter'],
    ['guardrail_intervened', 'content-filter'],
  ])('the word "%s" is a failure, streamed and whole', async (word, kind) => {
    const whole = { choices: [{ message: half, finish_reason: word }] };
    const told = expect.stringMatching(new RegExp(`^${kind}: .*"${word}"`));
    expect(await ended(half, part({}, word), done)).toEqual(told);
    expect(await ended(JSON.stringify(whole))).toEqual(told);
  });

  it('a failure that is not the fault of the request is tried again, if nothing was said', async () => {
    const clock = virtualClock();
    const overloaded = scripted([part({}, 'insufficient_system_resource'), done]);
    const answers = [overloaded, scripted([{ content: 'Here.' }, part({}, 'stop'), done])];
    await using lab = await agentLab(answers, {}, { clock });
    const said = lab.test.say('hello');
    while (lab.test.of('agent.llm.output').length === 0) await new Promise(setImmediate);
    await clock.advance(1_000);
    expect(await said).toMatchObject({ status: 'answered' });
    expect(lab.test.replies()).toEqual(['Here.']);
  });

  it('only a word ends it, and the first one stays, in any order of empty ones', async () => {
    const blank = fc.constantFrom<unknown>('', ' ', null, 'null', 7, {}, undefined);
    const word = fc.constantFrom('stop', 'content_filter', 'error', 'length');
    const steps = fc.array(fc.oneof(blank, word), { maxLength: 6 });
    await fc.assert(
      fc.asyncProperty(steps, async (words) => {
        const parts = words.map((finish_reason) => ({ choices: [{ delta: half, finish_reason }] }));
        const first = words.find((one) =>
          ['stop', 'content_filter', 'error', 'length'].includes(String(one)),
        );
        const end = await ended(...parts);
        if (first === 'stop' || first === 'length') expect(end).toContain('The first half');
        else if (words.length === 0) expect(end).toMatch(/^no-choices/);
        else if (first === undefined) expect(end).toMatch(/^cut-stream: /);
        else expect(end).toMatch(first === 'error' ? /^server-error/ : /^content-filter/);
      }),
      { numRuns: 40 },
    );
  });

  it.each([
    ['null', null],
    ['an empty one', ''],
  ])(
    '[DONE] is no end with %s for its word: proxies send it behind a cut, too',
    async (_, word) => {
      expect(await ended(part({ content: 'Half' }, word), done)).toMatch(/^cut-stream: /);
      expect(await ended(part({ content: 'Half' }, word), done, 'HOLD')).toMatch(/^cut-stream: /);
    },
  );

  it.each<[string, readonly (object | string)[], RegExp]>([
    [
      'an error in a choice',
      [
        {
          choices: [
            { delta: {}, error: { code: 502, message: 'gone away' }, finish_reason: 'stop' },
          ],
        },
      ],
      /^server-error: gone away$/,
    ],
    [
      'an event of that name',
      ['event: error\ndata: {"message":"worker died"}\n\n'],
      /^server-error: worker died$/,
    ],
    [
      'an event with a text',
      ['event: error\ndata: worker died\n\n'],
      /^server-error: worker died$/,
    ],
    [
      'an event that was cut behind its words',
      ['event: error\ndata: {"message":"died"}'],
      /^server-error: died$/,
    ],
    ['a text', [{ error: 'out of memory' }], /^server-error: out of memory$/],
    [
      'without a wrapper',
      ['data: {"object":"error","message":"too big","code":400}\n\n'],
      /^refused: too big$/,
    ],
    [
      'of FastAPI',
      ['data: {"detail":[{"loc":["body","n"],"msg":"wrong"}]}\n\n'],
      /^server-error: wrong \(body\.n\)$/,
    ],
    [
      'as a detail, and [DONE]',
      ['data: {"detail":"worker died"}\n\n', done],
      /^server-error: worker died$/,
    ],
    [
      'a detail, and a connection that breaks',
      ['data: {"detail":"worker died"}\n\n', 'CUT'],
      /^server-error: worker died$/,
    ],
    [
      'behind the end',
      [part({}, 'stop'), { error: { message: 'no usage' } }],
      /^server-error: no usage$/,
    ],
    [
      'of a server behind a proxy, with its field',
      [
        {
          error: { message: 'Provider error', metadata: { raw: 'no such tool' }, param: 'tools.0' },
        },
      ],
      /^server-error: Provider error: no such tool \(tools\.0\)$/,
    ],
    [
      'with a type for a code',
      [{ error: { type: 'rate_limit_error', message: 'slow' } }],
      /^rate-limit: slow$/,
    ],
  ])('an error is told with the words of the server: %s', async (_, steps, error) => {
    expect(await ended(half, ...steps)).toMatch(error);
  });

  it('a status that is no good one is told with its words, though the server does not hang up', async () => {
    const clock = virtualClock();
    const turn = turnOf(
      [
        (response) => {
          response.writeHead(500, { 'content-type': 'application/json' });
          response.write('{"detail":"worker died"}');
        },
      ],
      {},
      { clock },
    );
    while (clock.nextMs !== 1_000) await new Promise(setImmediate);
    await clock.advance(1_000);
    expect((await turn).failure).toBe('server-error: HTTP 500: worker died');
  });

  it.each([
    ['null', { error: null }],
    ['empty', { error: '' }],
    ['without words', { error: {} }],
  ])('a field for errors that is %s is none', async (_, field) => {
    expect(await ended({ ...part(half), ...field }, part({}, 'stop'))).toBe('The first half');
  });

  it.each<[string, string, string]>([
    [
      'fields that are not known',
      '{"text":"sk-1"}',
      'no-choices: the answer has no choices (its last part: 15 characters)',
    ],
    [
      'another choice alone',
      '{"choices":[{"index":1,"text":"sk-1"}]}',
      'no-choices: the answer has no choices (its last part: 39 characters)',
    ],
    [
      'a piece that is cut',
      '{"choices":[{"delta":{"content":"sk-1',
      'broken-stream: a part is no JSON (37 characters)',
    ],
    ['a text', '"sk-1"', 'broken-stream: a part is no object (6 characters)'],
    [
      'an error beside a piece',
      '{"error":{"code":500},"choices":[{"delta":{"content":"sk-1"}}]}',
      'server-error: {"error":{"code":500}}',
    ],
  ])(
    'words that may be a model’s are in no error, because nobody has judged them (§16.32): %s',
    async (_, body, failure) => {
      expect((await turnOf([scripted([`data: ${body}\n\n`, done])])).failure).toBe(failure);
    },
  );

  it('a page in the place of an answer is told by its words', async () => {
    const page = scripted(['<html><h1>502 Bad Gateway</h1></html>'], { type: 'text/html' });
    expect((await turnOf([page])).failure).toBe(
      'broken-stream: a part is no JSON (37 characters): 502 Bad Gateway',
    );
  });
});

describe('when a server has said how its answer ends, it has a second for the rest', () => {
  const heard = async (...steps: readonly (object | string)[]) => {
    const clock = virtualClock();
    const turn = turnOf([scripted([half, part({}, 'stop'), ...steps])], {}, { clock });
    while (clock.nextMs !== 1_000) await new Promise(setImmediate);
    await clock.advance(999);
    expect(clock.pending).toBe(1);
    await clock.advance(1);
    return await turn;
  };

  it('and is let go, if it is silent', async () => {
    expect(await heard('HOLD')).toMatchObject({ text: 'The first half', failure: undefined });
  });

  it('and is let go, if it pings', async () => {
    expect(await heard('PING')).toMatchObject({ text: 'The first half', failure: undefined });
  });

  it('and what it has used is read', async () => {
    const { messages } = await heard(usage, 'HOLD');
    expect(messages[0]).toMatchObject({ usage: { input: 7, output: 2 } });
  });

  it('also with a bad end', async () => {
    const clock = virtualClock();
    const turn = turnOf([scripted([half, part({}, 'abort'), 'HOLD'])], {}, { clock });
    while (clock.nextMs !== 1_000) await new Promise(setImmediate);
    await clock.advance(1_000);
    expect((await turn).failure).toBe('server-error: the server has ended the answer with "abort"');
  });

  it.each<[string, readonly (object | string)[]]>([
    ['a connection that breaks', ['CUT']],
    ['a part that is no JSON', ['data: {"cho\n\n', done]],
    ['more empty parts', [...repeated(5, part({ role: 'assistant', content: '' })), done]],
    ['the end again', [...repeated(3, part({}, 'error')), done]],
  ])('and %s changes nothing', async (_, steps) => {
    expect(await ended(half, part({}, 'stop'), ...steps)).toBe('The first half');
  });

  it('and more of the answer is no loss: some say with each part that it is the last', async () => {
    const steps = [part({ content: 'a' }, 'stop'), part({ content: 'b' }, 'stop'), done];
    expect(await ended(...steps)).toBe('ab');
    expect(await ended(...reordered([1, 0, 2], steps))).toBe('ba');
  });
});

describe('the body tells whether it is a stream', () => {
  const stream = [
    `data: ${JSON.stringify(part({ content: 'Hello' }))}`,
    `data: ${JSON.stringify(part({ content: ' there.' }, 'stop'))}`,
    'data: [DONE]',
  ];
  const lines = (end: string) => stream.map((one) => one + end).join('');
  const whole = JSON.stringify({
    choices: [{ message: { role: 'assistant', content: 'Hello there.' }, finish_reason: 'stop' }],
  });

  it.each([
    ['events', lines('\n\n')],
    ['events with CRLF', lines('\r\n\r\n')],
    ['events behind empty lines', `\n\n${lines('\n\n')}`],
    ['events behind a mark of UTF-8', `\ufeff${lines('\n\n')}`],
    ['events behind a comment', `: hi\n\n${lines('\n\n')}`],
    ['events with names', lines('\n\n').replaceAll('data: ', 'event: chunk\ndata: ')],
    ['events without empty lines between them', lines('\n')],
    ['events with empty ones between them', `data:\n\n${lines('\n\ndata: \n\n')}`],
    ['an answer as a whole', whole],
    ['an answer as a whole behind blanks', `\ufeff \n${whole}\n`],
  ])('%s, whatever its content type says, however it is cut', async (_, body) => {
    for (const type of ['text/event-stream', 'application/json', 'text/plain', ''])
      for (const cut of [1, 7, body.length]) {
        const answer = scripted([body], { type, cut });
        expect(await turnOf([answer])).toMatchObject({ text: 'Hello there.', failure: undefined });
      }
  });

  it('and a whole answer needs no end of the connection', async () => {
    const turn = turnOf([scripted([whole, 'HOLD'], { type: 'application/json' })]);
    expect(await turn).toMatchObject({ text: 'Hello there.', failure: undefined });
  });

  it.each<[string, readonly (object | string)[]]>([
    [
      'a message in a stream',
      [{ choices: [{ message: { content: 'Hello there.' }, finish_reason: 'stop' }] }],
    ],
    [
      'a message that grows as a whole',
      [
        { choices: [{ message: { content: 'Hello' } }] },
        { choices: [{ message: { content: 'Hello there.' }, finish_reason: 'stop' }] },
      ],
    ],
    [
      'a message that says again what the deltas said',
      [
        { content: 'Hello' },
        { content: ' there.' },
        { choices: [{ delta: {}, message: { content: 'Hello there.' }, finish_reason: 'stop' }] },
      ],
    ],
    [
      'a message in blocks',
      [
        {
          choices: [
            {
              message: {
                content: [
                  { type: 'text', text: 'Hello' },
                  { type: 'output_text', text: ' there.' },
                ],
              },
              finish_reason: 'stop',
            },
          ],
        },
      ],
    ],
    [
      'the first of two choices',
      [
        { choices: [{ index: 1, delta: { content: 'Bye' }, finish_reason: 'stop' }] },
        {
          choices: [
            { index: 1, delta: { content: '!' } },
            { index: 0, delta: { content: 'Hello' } },
          ],
        },
        part({ content: ' there.' }, 'stop'),
      ],
    ],
  ])('%s is read once', async (_, steps) => {
    expect(await ended(...steps, done)).toBe('Hello there.');
  });
});

describe('the key', () => {
  it('is in no error, whole or in pieces, though the server repeats it', async () => {
    const key = 'sk-proj-0123456789abcdefghij';
    const told = [
      `bad key ${key}.`,
      `Bearer ${key.slice(5, 20)}...`,
      `${key.slice(0, 12)}****${key.slice(-9)}`,
    ];
    for (const message of told) {
      const { failure = '', messages } = await turnOf([scripted([half, { error: { message } }])], {
        apiKey: key,
      });
      for (let at = 0; at <= key.length - 8; at++) {
        expect(failure).not.toContain(key.slice(at, at + 8));
        expect(JSON.stringify(messages)).not.toContain(key.slice(at, at + 8));
      }
      expect(failure).toContain('<key>');
    }
  });

  it('of a header of its own, too; and other headers are words like any other', async () => {
    const headers = { 'x-api-key': 'very-secret-0815', 'x-title': 'The House of Ada' };
    const { failure } = await turnOf(
      [scripted([{ error: 'The House of Ada: very-secret-0815' }])],
      { headers },
    );
    expect(failure).toBe('server-error: The House of Ada: <key>');
  });
});
