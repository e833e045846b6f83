import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { virtualClock } from 'sluice/testing';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { McpList } from '../src/mcp-list.js';
import { type AgentLab, agentLab } from './agent-lab.js';
import { calls, says } from './model-server.js';

const program = fileURLToPath(new URL('scripted-mcp.js', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'sluice-mcp-'));
afterAll(() => rmSync(folder, { recursive: true }));
let logs = 0;

interface Script {
  readonly pages: readonly object[];
  readonly holdPage?: number;
  readonly changes?: number;
  readonly pings?: boolean;
  readonly initialize?: object;
  readonly results?: Readonly<Record<string, unknown>>;
}

/** The settings of a server that follows a script, and a count of the lists that were asked of it. */
function scripted(script: Script, settings: object = {}) {
  const log = join(folder, String(logs++));
  const args = [program, JSON.stringify(script), log];
  const asked = (what: string): number =>
    existsSync(log) ? readFileSync(log, 'utf8').split(what).length - 1 : 0;
  return {
    settings: { command: process.execPath, args, ...settings },
    lists: () => asked('tools/list'),
    pings: () => asked('answer to ping'),
    cancels: () => asked('notifications/cancelled'),
  };
}

const tool = (name: string, more: object = {}) => ({
  ...{ name, description: `It is ${name}.`, inputSchema: { type: 'object', properties: {} } },
  ...more,
});

/** The tools that a model was offered last. */
function offered({ asked }: AgentLab) {
  const tools = (asked.at(-1)?.body.tools ?? []) as readonly {
    readonly function: { readonly name: string; readonly description: string };
  }[];
  return tools.map(({ function: one }) => one);
}

const names = (lab: AgentLab) => offered(lab).map(({ name }) => name);

/** The tools that are left out, each with the fault, as the health of the host has them. */
function leftOut({ test }: AgentLab): unknown[] {
  const all = test.host.health().degraded.filter(({ code }) => code === 'agent-part');
  return all.map(({ whose, what }) => [whose, what?.replace(/^left out: /, '')]);
}

describe('a list of tools is read tool by tool: one that is wrong loses no other', () => {
  it.each<[string, unknown, string, string]>([
    ['no name', { ...tool('x'), name: undefined }, 'missing', 'name is missing'],
    ['an empty name', tool(''), '""', 'name is ""'],
    ['a number as its name', { ...tool('x'), name: 7 }, '7', 'name is 7'],
    ['null in its place', null, 'missing', 'name is missing'],
    ['a text in its place', 'tool', 'missing', 'name is missing'],
    ['a schema that is a text', tool('bad', { inputSchema: 'x' }), 'bad', 'inputSchema is x'],
    ['a schema that is a list', tool('bad', { inputSchema: [] }), 'bad', 'inputSchema is a list'],
    [
      'a schema of a list',
      tool('bad', { inputSchema: { type: 'array' } }),
      'bad',
      'inputSchema.type is array',
    ],
    ['the name of another', tool('good'), 'good', 'name is that of another tool'],
    [
      'a task to be made of each call',
      tool('bad', { execution: { taskSupport: 'required' } }),
      'bad',
      'execution.taskSupport is "required", and tasks are not spoken',
    ],
  ])(
    'with %s it is left out, and the log, the health and the doctor name its field',
    async (_, bad, name, problem) => {
      const { settings } = scripted({ pages: [{ tools: [tool('good'), bad, tool('last')] }] });
      const clock = virtualClock();
      await using lab = await agentLab([says('Hi.')], { mcpServers: { s: settings } }, { clock });
      await lab.test.say('go');
      await clock.advance(1_000);
      await lab.test.say('again');
      await clock.advance(1_000);
      expect(names(lab)).toEqual(['mcp__s__good', 'mcp__s__last']);
      expect(leftOut(lab)).toEqual([[`s/${name}`, problem]]);
      const told = lab.test.log.entries.filter(
        ({ level }) => level !== 'debug' && level !== 'info',
      );
      expect(told).toMatchObject([
        {
          message: `s/${name} is in trouble: agent-part`,
          fields: { what: `left out: ${problem}` },
        },
      ]);
    },
  );

  it.each<[string, unknown, string]>([
    ['a description of null', tool('it', { description: null }), 'it'],
    ['a number as description, and a title', tool('it', { description: 5, title: 'It' }), 'It'],
    ['a title that is a list', tool('it', { title: [] }), 'It is it.'],
    [
      'annotations of wrong types',
      tool('it', { annotations: { readOnlyHint: 'yes' } }),
      'It is it.',
    ],
    [
      'annotations of null',
      tool('it', { annotations: null, icons: null, _meta: null }),
      'It is it.',
    ],
    [
      'an output schema without a type',
      tool('it', { outputSchema: { properties: {} } }),
      'It is it.',
    ],
    ['an output schema that is a text', tool('it', { outputSchema: 'x' }), 'It is it.'],
    ['no input schema', { name: 'it', description: 'It is it.' }, 'It is it.'],
    ['an input schema of null', tool('it', { inputSchema: null }), 'It is it.'],
    [
      'an input schema without a type',
      tool('it', { inputSchema: { properties: {} } }),
      'It is it.',
    ],
    [
      'required, fields and a pattern that are none',
      tool('it', { inputSchema: { type: 'object', required: null, properties: [], pattern: '[' } }),
      'It is it.',
    ],
    [
      'a reference to nothing',
      tool('it', { inputSchema: { type: 'object', properties: { a: { $ref: '#/$defs/No' } } } }),
      'It is it.',
    ],
  ])('with %s it is offered, and can be called', async (_, it, description) => {
    const { settings } = scripted({
      pages: [{ tools: [it] }],
      results: { it: { content: [{ type: 'text', text: 'it is done' }], structuredContent: {} } },
    });
    const answers = [calls(['mcp__s__it', { a: 'x' }]), says('Hi.')];
    await using lab = await agentLab(answers, { mcpServers: { s: settings } });
    await lab.test.say('go');
    expect(offered(lab)).toMatchObject([
      { name: 'mcp__s__it', description, parameters: { type: 'object', properties: {} } },
    ]);
    expect(lab.asked.at(-1)?.body.messages.at(-1)).toMatchObject({ content: 'it is done' });
    expect(lab.test.host.health().degraded).toEqual([]);
  });

  it('tells what it has dropped of a schema, with the place, once', async () => {
    const inputSchema = { type: 'object', properties: { a: { type: 'string', pattern: '\\-' } } };
    const { settings } = scripted({ pages: [{ tools: [tool('it', { inputSchema })] }] });
    await using lab = await agentLab([says('Hi.')], { mcpServers: { s: settings } });
    await lab.test.say('go');
    await lab.test.say('again');
    const told = lab.test.log.entries.filter(({ message }) => /a part of its schema/.test(message));
    expect(told.map(({ fields }) => fields)).toMatchObject([
      { tool: 'mcp__s__it', problem: expect.stringContaining('/properties/a/pattern') },
    ]);
  });

  it.each([
    ['null', null],
    ['an empty text', ''],
    ['a number', 5],
  ])('ends with a cursor that is %s', async (_, nextCursor) => {
    const { settings, lists } = scripted({ pages: [{ tools: [tool('one')], nextCursor }] });
    await using lab = await agentLab([says('Hi.')], { mcpServers: { s: settings } });
    await lab.test.say('go');
    expect(names(lab)).toEqual(['mcp__s__one']);
    expect(lists()).toBe(1);
  });

  it('has none where "tools" is null', async () => {
    const { settings } = scripted({ pages: [{ tools: null }] });
    await using lab = await agentLab([says('Hi.')], { mcpServers: { s: settings } });
    await lab.test.say('go');
    expect(names(lab)).toEqual([]);
    expect(lab.test.host.health().degraded).toEqual([]);
  });

  it.each([
    ['comes again', (at: number) => `p${at % 2}`, 3],
    ['is ever another one', (at: number) => `p${at}`, 50],
  ])('ends if its cursor %s, and says so', async (_, cursorAt, most) => {
    const pages = Array.from({ length: 60 }, (_, at) => ({
      tools: [tool(`t${at}`)],
      nextCursor: cursorAt(at),
    }));
    const { settings, lists } = scripted({ pages });
    await using lab = await agentLab([says('Hi.')], { mcpServers: { s: settings } });
    await lab.test.say('go');
    expect(lists()).toBe(most);
    expect(names(lab)).toHaveLength(most);
    expect(leftOut(lab)).toEqual([['s/the rest', 'the pages of the list do not end']]);
  });

  it('keeps the tools of the pages before one that is no page', async () => {
    const pages = [{ tools: [tool('one')], nextCursor: '2' }, { tools: 'none' }];
    const { settings } = scripted({ pages });
    await using lab = await agentLab([says('Hi.')], { mcpServers: { s: settings } });
    await lab.test.say('go');
    expect(names(lab)).toEqual(['mcp__s__one']);
    expect(leftOut(lab)).toEqual([['s/the rest', 'page 2: "tools" of its answer is no list']]);
  });
});

describe('the budget of a server', () => {
  it('has one time for its start and its whole list; the pages that came are used, and the tools of others (R7)', async () => {
    const clock = virtualClock();
    const slow = scripted({
      pages: [{ tools: [tool('one')], nextCursor: '2' }],
      holdPage: 2,
    });
    const other = scripted({ pages: [{ tools: [tool('two')] }] });
    const mcpServers = { slow: { ...slow.settings, startTimeoutMs: 3_000 }, other: other.settings };
    await using lab = await agentLab([says('Hi.')], { mcpServers }, { clock });
    const said = lab.test.say('go');
    await vi.waitFor(() => expect(slow.lists()).toBe(2), { timeout: 60_000 });
    await clock.advance(3_000);
    await said;
    expect(names(lab).toSorted()).toEqual(['mcp__other__two', 'mcp__slow__one']);
    expect(leftOut(lab)).toEqual([
      ['slow/the rest', 'page 2: not done within startTimeoutMs (3000 ms)'],
    ]);
    await lab.test.say('again'); // it waits for nothing
    expect(slow.lists()).toBe(2);
    await vi.waitFor(() => expect(slow.cancels()).toBe(1), { timeout: 60_000 }); // nor is it waited for
  });

  it('tells why if an answer of the server could not be read (K24)', async () => {
    const clock = virtualClock();
    const { settings, pings } = scripted({ pages: [{ tools: [], _meta: null }], pings: true });
    await using lab = await agentLab([says('Hi.')], { mcpServers: { s: settings } }, { clock });
    const said = lab.test.say('go');
    await vi.waitFor(() => expect(pings()).toBe(1), { timeout: 60_000 });
    await clock.advance(30_000);
    await said;
    const [told] = lab.test.log.entries.filter(({ level }) => level === 'warn');
    expect(told?.fields?.['problem']).toMatch(/^not done within .* could not be read: .*_meta/);
  });

  it('blocks nobody longer if the server never answers', async () => {
    const clock = virtualClock();
    const silent = scripted({ pages: [{}], holdPage: 1 }, { startTimeoutMs: 3_000 });
    await using lab = await agentLab(
      [says('Hi.')],
      { mcpServers: { s: silent.settings } },
      { clock },
    );
    const said = lab.test.say('go');
    await vi.waitFor(() => expect(silent.lists()).toBe(1), { timeout: 60_000 });
    await clock.advance(3_000);
    await said;
    expect(lab.test.replies()).toEqual(['Hi.']);
    expect(lab.test.host.health().degraded).toMatchObject([
      { whose: 's', what: 'it cannot be used' },
    ]);
  });

  it.each<[string, object[], string]>([
    [
      '500 tools',
      Array.from({ length: 501 }, (_, at) => tool(at === 500 ? 'last' : `t${at}`)),
      'a server may have 500 tools',
    ],
    [
      '256 KiB of descriptions and schemas',
      [
        tool('one', { description: 'x'.repeat(200_000) }),
        tool('last', { inputSchema: { a: 'ü'.repeat(40_000) } }),
      ],
      'description and inputSchema have 80182 bytes; all of a server may have 262144',
    ],
    [
      'no schema that is too deep to be sent',
      [
        tool('one'),
        tool('last', {
          inputSchema: JSON.parse(`${'{"not":'.repeat(50_000)}{}${'}'.repeat(50_000)}`) as object,
        }),
      ],
      'inputSchema is too deep',
    ],
  ])('is %s: the tool beyond it is left out', (_, tools, problem) => {
    const list = new McpList();
    list.add({ tools }, undefined);
    expect([...list.leftOut]).toEqual([['last', problem]]);
    expect(list.tools).toHaveLength(tools.length - 1);
  });

  it('is a share of half of the context: a large server leaves tools out, and none of a small one', async () => {
    const wordy = (name: string) => tool(name, { description: 'x'.repeat(1_000) });
    const large = scripted({ pages: [{ tools: ['a', 'b', 'c', 'd'].map(wordy) }] });
    const small = scripted({ pages: [{ tools: [tool('s')] }] });
    const mcpServers = { large: large.settings, small: small.settings };
    await using lab = await agentLab([says('Hi.')], {
      ...{ mcpServers, agent: { contextTokens: 2_000 } },
    });
    await lab.test.say('go');
    await lab.test.say('again');
    expect(names(lab)).toEqual([
      ...['mcp__small__s', 'mcp__large__a', 'mcp__large__b', 'mcp__large__c'],
    ]);
    expect(JSON.stringify(lab.asked[0]?.body).length / 4).toBeLessThan(2_000);
    expect(leftOut(lab)).toEqual([
      ['large/d', 'the tools of MCP servers may take half of contextTokens'],
    ]);
  });

  it('is one list under way and one that waits, however often its tools change (R7)', async () => {
    const clock = virtualClock();
    const { settings, lists, pings } = scripted({
      pings: true,
      pages: [{ tools: [tool('one')] }, { tools: [tool('two')] }],
      changes: 5_000,
      results: { one: { content: [] }, two: { content: [] } },
    });
    const answers = [
      calls(['mcp__s__one', {}]),
      says('1.'),
      calls(['mcp__s__two', {}]),
      says('2.'),
    ];
    await using lab = await agentLab(answers, { mcpServers: { s: settings } }, { clock });
    await lab.test.say('go');
    await vi.waitFor(() => expect(pings()).toBe(2), { timeout: 60_000 });
    await lab.test.say('again'); // its call is answered after all that was told before it
    expect(lists()).toBe(2);
    await clock.advance(1_000);
    await vi.waitFor(() => expect(lists()).toBe(3), { timeout: 60_000 });
    expect(names(lab)).toEqual(['mcp__s__two']);
  });

  it('keeps its tools if it fails to list them anew', async () => {
    const pages = [{ tools: [tool('one')] }, { error: { code: -32603, message: 'no disk' } }];
    const { settings } = scripted({ pages, changes: 1 });
    await using lab = await agentLab([says('Hi.')], { mcpServers: { s: settings } });
    await lab.test.say('go');
    const isTold = () =>
      lab.test.log.entries.find(({ message }) => /not listed its tools anew/.test(message));
    await vi.waitFor(() => expect(isTold()).toBeDefined(), { timeout: 60_000 });
    await lab.test.say('again');
    expect(isTold()?.fields).toMatchObject({ problem: expect.stringContaining('no disk') });
    expect(names(lab)).toEqual(['mcp__s__one']);
  });
});

describe('a result', () => {
  const outputSchema = { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] };
  const text = { type: 'text', text: 'Lima' };
  const note = (words: string) => `[the structured content ${words}]`;
  it.each<[string, unknown, string]>([
    ['that fits its schema', { content: [text], structuredContent: { a: 'x' } }, 'Lima'],
    [
      'without the content that its schema promises',
      { content: [text] },
      `Lima\n${note('that the tool promises is missing')}`,
    ],
    [
      'that does not fit its schema',
      { content: [text], structuredContent: { a: 5 } },
      `Lima\n${note('does not fit its schema: a must be string')}`,
    ],
    [
      'with structured content alone, which does not fit',
      { structuredContent: { b: 1 } },
      `{"b":1}\n${note('does not fit its schema: a is required')}`,
    ],
    [
      'that is a failure, which is not checked',
      { content: [text], structuredContent: { b: 1 }, isError: true },
      'Lima',
    ],
    [
      'with an empty list beside content that does not fit',
      { content: [], structuredContent: { a: 7 } },
      `{"a":7}\n${note('does not fit its schema: a must be string')}`,
    ],
    [
      'with blank texts beside content',
      { content: [{ type: 'text', text: ' ' }, null], structuredContent: { a: 'x' } },
      '{"a":"x"}',
    ],
    [
      'that is a failure with structured content alone',
      { content: [], structuredContent: { b: 1 }, isError: true },
      '{"b":1}',
    ],
    [
      'of the first form of the protocol',
      { toolResult: { a: 1 } },
      `{"toolResult":{"a":1}}\n${note('that the tool promises is missing')}`,
    ],
    ['with content of null', { content: null, structuredContent: { a: 'x' } }, '{"a":"x"}'],
    ['with a block in place of a list', { content: text, structuredContent: { a: 'x' } }, 'Lima'],
    [
      'with blocks of other kinds, none of which loses the rest',
      {
        content: [
          ...[null, { type: 'hologram', data: 'x'.repeat(51_000) }],
          { type: 'audio', mimeType: 'audio/wav', data: 'y'.repeat(51_000) },
          { type: 'resource', resource: { uri: 'a:b', text: 'inside' } },
          text,
        ],
        structuredContent: { a: 'x' },
      },
      [
        '{"type":"hologram","data":"[51000 letters]"}',
        '{"type":"audio","mimeType":"audio/wav","data":"[51000 letters]"}',
        '{"type":"resource","resource":{"uri":"a:b","text":"inside"}}',
        'Lima',
      ].join('\n'),
    ],
  ])('%s reaches the model whole', async (_, result, shown) => {
    const { settings } = scripted({
      pages: [{ tools: [tool('it', { outputSchema })] }],
      results: { it: result },
    });
    const answers = [calls(['mcp__s__it', {}]), says('Hi.')];
    await using lab = await agentLab(answers, { mcpServers: { s: settings } });
    await lab.test.say('go');
    expect(lab.asked.at(-1)?.body.messages.at(-1)).toMatchObject({ content: shown });
  });

  it('of a tool whose output schema cannot be used has no note', async () => {
    const broken = { type: 'object', patternProperties: { '[': {} } };
    const { settings } = scripted({
      pages: [{ tools: [tool('it', { outputSchema: broken })] }],
      results: { it: { content: [text], structuredContent: { a: 1 } } },
    });
    const answers = [calls(['mcp__s__it', {}]), says('Hi.')];
    await using lab = await agentLab(answers, { mcpServers: { s: settings } });
    await lab.test.say('go');
    expect(lab.asked.at(-1)?.body.messages.at(-1)).toMatchObject({ content: 'Lima' });
  });
});

describe('a server that cannot be used', () => {
  it.each<[string, object, string]>([
    [
      'that refuses to list its tools',
      scripted({ pages: [{ error: { code: -32603, message: 'no licence' } }] }).settings,
      'no licence',
    ],
    ['whose list is none', scripted({ pages: [{ tools: {} }] }).settings, '"tools" of its answer'],
    [
      'without a name',
      scripted({ pages: [], initialize: { serverInfo: {} } }).settings,
      'serverInfo',
    ],
    [
      'that ends, with words on stderr',
      { command: process.execPath, args: ['-e', 'console.error("no key"); process.exit(1)'] },
      'no key',
    ],
    ['whose program is not there', { command: './sluice-no-such-program' }, 'ENOENT'],
    ['whose address nobody has', { url: 'http://127.0.0.1:9/mcp' }, 'fetch failed: '],
  ])('%s is named with its own words and a way out (K24)', async (_, settings, words) => {
    await using lab = await agentLab([says('Alone.')], { mcpServers: { s: settings } });
    await lab.test.say('go');
    const [told] = lab.test.log.entries.filter(({ level }) => level === 'warn');
    expect(told).toMatchObject({
      message: 'an MCP server cannot be used',
      fields: {
        server: 's',
        problem: expect.stringContaining(words),
        hint: expect.stringContaining('mcpServers'),
      },
    });
    expect(lab.test.replies()).toEqual(['Alone.']);
    expect(lab.test.host.health().degraded).toEqual([
      { code: 'agent-part', whose: 's', what: 'it cannot be used', count: 1 },
    ]);
  });
});
