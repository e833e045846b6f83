import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Verdict } from '../../../extensions/guard/src/agents/codec.js';
import { GuardAway } from '../../../extensions/guard/src/mcp/judge.js';
import { allow, relayLab, type Said, type TestJudge, text } from './mcp-lab.js';

/** A judge of results alone. */
const onResult =
  (verdict: Verdict | ((said: string) => Verdict)): TestJudge =>
  (point, { result }) =>
    point === 'agent.tool.calling'
      ? { status: 'allowed' }
      : typeof verdict === 'function'
        ? verdict(result?.text ?? '')
        : verdict;
const redact = onResult((said) => ({
  status: 'allowed',
  ...(said.includes('SECRET') && { result: said.replaceAll('SECRET', '***') }),
}));
const initialized: Said = {
  protocolVersion: '2025-06-18',
  capabilities: {},
  serverInfo: { name: 'the files', version: '1' },
};

describe('a call', () => {
  it('is judged under the name of its server and tool, which the server says or the person', async () => {
    const names = [];
    for (const more of [{}, { name: 'fs' }]) {
      const { say, call, heard } = await relayLab(allow, more);
      await say('client', { id: 0, method: 'initialize', params: {} });
      await say('server', { id: 0, result: initialized });
      await call({ name: 'read', arguments: { path: '/a' } }, text('b'));
      names.push(heard[0]?.heard.toolName);
      expect(heard).toMatchObject([
        { point: 'agent.tool.calling', heard: { params: { path: '/a' }, workspaceDir: '/work' } },
        { point: 'agent.tool.returning', heard: { result: { text: 'b', isError: false } } },
      ]);
    }
    expect(names).toEqual(['mcp__the_files__read', 'mcp__fs__read']);
  });

  it('has the same name before the server has said its own', async () => {
    const { call, heard } = await relayLab(allow, { name: 'the files' });
    await call({ name: 'read' }, text('b'));
    expect(heard[0]?.heard.toolName).toBe('mcp__the_files__read');
  });

  it('goes on with the arguments of the verdict, under which its result is judged', async () => {
    const { call, got, heard } = await relayLab((point) => ({
      status: 'allowed',
      ...(point === 'agent.tool.calling' && { params: { limit: 10 } }),
    }));
    const params = { name: 'list', arguments: { limit: 9_999 }, _meta: { progressToken: 5 } };
    await call(params, text('ok'));
    expect(got.server[0]).toMatchObject({ params: { ...params, arguments: { limit: 10 } } });
    expect(heard[1]?.heard.params).toEqual({ limit: 10 });
  });

  it('that is refused has an error of a tool for an answer, and the model reads the reason', async () => {
    const { call, got } = await relayLab(() => ({ status: 'refused', reason: 'not on a Friday' }));
    const answer = await call({ name: 'drop' }, text('dropped'));
    expect(answer).toMatchObject({ result: { ...text('not on a Friday'), isError: true } });
    expect(got.server).toEqual([]);
  });

  it('that is refused and wanted a task has an error of the protocol, since no task is made', async () => {
    const { call } = await relayLab(() => ({ status: 'refused', reason: 'no' }));
    const answer = await call({ name: 'drop', task: {} }, {});
    expect(answer).toMatchObject({ error: { message: 'no' } });
  });

  it('gives the model the words of augmenters with its result', async () => {
    const { call } = await relayLab((point) => ({ status: 'allowed', context: `of ${point}` }));
    const answer = await call({ name: 'one' }, { ...text('ok'), structuredContent: { ok: 1 } });
    const words = 'of agent.tool.calling\nof agent.tool.returning';
    expect(answer).toMatchObject({
      result: { content: [{ text: 'ok' }, { text: words }], structuredContent: { ok: 1 } },
    });
  });
});

describe('a result', () => {
  it.each<[string, Said, Said]>([
    ['texts', text('a SECRET'), text('a ***')],
    [
      'data that is also its text',
      { ...text('{"key": "SECRET"}'), structuredContent: { key: 'SECRET' } },
      { ...text('{"key": "***"}'), structuredContent: { key: '***' } },
    ],
    [
      'data that wraps its text',
      { ...text('a SECRET'), structuredContent: { content: 'a SECRET' } },
      { ...text('a ***'), structuredContent: { content: 'a ***' } },
    ],
    [
      'other data',
      { ...text('see the data'), structuredContent: { key: 'SECRET' } },
      { ...text('see the data\n{"key":"***"}'), isError: true },
    ],
    ['an error', { ...text('a SECRET'), isError: true }, { ...text('a ***'), isError: true }],
    ['a text and meta', { ...text('SECRET'), _meta: { own: 'SECRET' } }, text('***')],
    [
      'a resource',
      { content: [{ type: 'resource', resource: { uri: 'a://b', text: 'SECRET' } }] },
      text('{"type":"resource","resource":{"uri":"a://b","text":"***"}}'),
    ],
    ['fields of old servers', { toolResult: 'SECRET' }, text('{"toolResult":"***"}')],
  ])('of %s is changed in all its parts', async (_, result, changed) => {
    const { call } = await relayLab(redact);
    expect(await call({ name: 'one' }, result)).toEqual({ jsonrpc: '2.0', id: 1, result: changed });
  });

  it('that is withheld leaves nothing of itself, whatever its parts are', async () => {
    const part = fc.oneof(
      fc.record({ type: fc.constant('text'), text: fc.constant('SECRET') }),
      fc.record({
        type: fc.constant('image'),
        data: fc.constant('SECRET'),
        mimeType: fc.constant('a/b'),
      }),
      fc.record({
        type: fc.constant('resource'),
        resource: fc.record({ uri: fc.constant('SECRET') }),
      }),
      fc.constant('SECRET'),
      fc.jsonValue(),
    );
    const fields = {
      content: fc.oneof(fc.array(part), part),
      structuredContent: fc.dictionary(fc.string(), part),
      isError: fc.boolean(),
      _meta: fc.dictionary(fc.constantFrom('a', 'b'), part),
      other: part,
    };
    await fc.assert(
      fc.asyncProperty(fc.record(fields, { requiredKeys: [] }), async (result) => {
        const { call } = await relayLab(onResult({ status: 'refused', reason: 'withheld' }));
        const answer = await call({ name: 'one' }, result);
        expect(answer).toEqual({
          ...{ jsonrpc: '2.0', id: 1 },
          result: { ...text('withheld'), isError: true },
        });
      }),
    );
  });

  it('is heard whole by the judge: each text in it', async () => {
    const { call, heard } = await relayLab();
    const content = [
      ...[
        { type: 'text', text: 'one' },
        { type: 'image', data: 'AAAA', mimeType: 'image/png' },
      ],
      { type: 'resource_link', uri: 'file:///two', name: 'three' },
    ];
    await call({ name: 'one' }, { content, structuredContent: { four: 'five' }, six: 'seven' });
    const all = heard[1]?.heard.result?.text;
    for (const word of ['one', 'image/png', '[4 letters]', 'file:///two', 'three', 'five', 'seven'])
      expect(all).toContain(word);
  });

  it('that is an error of the protocol is judged, too', async () => {
    const { call } = await relayLab(redact);
    const error = { code: -32603, message: 'no SECRET', data: { key: 'SECRET' } };
    const answer = await call({ name: 'one' }, () => ({ error }));
    expect(answer).toMatchObject({ error: { code: -32603 } });
    expect(JSON.stringify(answer)).not.toContain('SECRET');
  });

  it('of a task is judged when it is asked for, under the name of its tool', async () => {
    const { call, say, got, heard } = await relayLab(redact, { name: 's' });
    const task = { taskId: 't', status: 'working', ttl: null };
    expect(await call({ name: 'slow', task: {} }, { task })).toMatchObject({ result: { task } });
    for (const [id, taskId] of [
      [2, 't'],
      [3, 'unknown'],
    ] as const) {
      await say('client', { id, method: 'tasks/result', params: { taskId } });
      await say('server', { id, result: text('SECRET') });
      expect(got.client.at(-1)).toMatchObject({ id, result: text('***') });
    }
    expect(heard.map(({ heard: { toolName } }) => toolName)).toEqual([
      ...['mcp__s__slow', 'mcp__s__slow', 'mcp__s__tasks/result'],
    ]);
  });

  it('that only looks like a task is judged', async () => {
    const { call } = await relayLab(redact);
    const task = { taskId: 't' };
    const answer = await call({ name: 'one', task: {} }, { task, ...text('SECRET') });
    expect(JSON.stringify(answer)).not.toContain('SECRET');
    expect(
      JSON.stringify(await call({ name: 'one' }, { task: { taskId: 'SECRET' } }, 2)),
    ).not.toContain('SECRET');
  });
});

describe('a hidden tool', () => {
  it.each([
    [['drop_*'], ['read', 'undrop_all']],
    [['*'], []],
    [
      ['r.ad', 'drop_tabl'],
      ['drop_table', 'read', 'undrop_all'],
    ],
    [['read', '*_all'], ['drop_table']],
  ])('%j is not listed, and refused if it is called', async (hide, left) => {
    const { say, call, got } = await relayLab(allow, { hide });
    const names = ['drop_table', 'read', 'undrop_all'];
    await say('client', { id: 9, method: 'tools/list' });
    await say('server', {
      id: 9,
      result: { tools: names.map((name) => ({ name })), nextCursor: 'n' },
    });
    expect(got.client).toEqual([
      { jsonrpc: '2.0', id: 9, result: { tools: left.map((name) => ({ name })), nextCursor: 'n' } },
    ]);
    for (const [at, name] of names.entries())
      expect(await call({ name }, text('done'), at)).toMatchObject({
        result: left.includes(name) ? text('done') : { isError: true },
      });
  });
});

describe('a call of a hidden tool', () => {
  it('is told to the guard as refused, and stays refused whatever the guard says', async () => {
    const { call, heard, got } = await relayLab(allow, { hide: ['drop'], name: 's' });
    const reason = 'the tool "drop" is not available';
    expect(await call({ name: 'drop', arguments: { all: true } }, text('ran'))).toMatchObject({
      result: { ...text(reason), isError: true },
    });
    expect(heard).toMatchObject([
      {
        point: 'agent.tool.calling',
        heard: { toolName: 'mcp__s__drop', params: { all: true }, reason },
      },
    ]);
    expect(got.server).toEqual([]);
  });
});

describe('a guard that is away', () => {
  const away: TestJudge = () => Promise.reject(new GuardAway('the guard is away'));

  it('stops calls, with a reason that the model reads', async () => {
    const { call, got } = await relayLab(away);
    const answer = await call({ name: 'one' }, text('ran'));
    expect(answer).toMatchObject({ result: { ...text('the guard is away'), isError: true } });
    expect(got.server).toEqual([]);
  });

  it('withholds the result of a call that has run', async () => {
    const { call } = await relayLab((point) =>
      point === 'agent.tool.calling'
        ? allow()
        : away(point, { sessionId: '', workspaceDir: '' }, AbortSignal.abort()),
    );
    expect(await call({ name: 'one' }, text('SECRET'))).toMatchObject({
      result: text('the guard is away'),
    });
  });

  it('lets calls pass if the person says so, with a word for the person', async () => {
    const { call, warnings } = await relayLab(away, { isOpen: true, name: 's' });
    expect(await call({ name: 'one' }, text('ran'))).toMatchObject({ result: text('ran') });
    expect(warnings).toEqual([
      'mcp__s__one passes unjudged: the guard is away',
      'mcp__s__one passes unjudged: the guard is away',
    ]);
  });

  it('is another thing than a guard that gives no verdict: that one stops calls in any case', async () => {
    const { call } = await relayLab(() => Promise.reject(new Error('HTTP 500')), { isOpen: true });
    expect(await call({ name: 'one' }, text('ran'))).toMatchObject({ result: { isError: true } });
  });
});
