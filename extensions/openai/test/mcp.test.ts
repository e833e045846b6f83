import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { context, propagation, ROOT_CONTEXT } from '@opentelemetry/api';
import { defineExtension } from 'sluice';
import { virtualClock } from 'sluice/testing';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { toolName } from '../src/mcp-tools.js';
import { type AgentLab, agentLab } from './agent-lab.js';
import { type Answer, calls, says } from './model-server.js';

const program = fileURLToPath(new URL('mcp-program.js', import.meta.url));

function stdio(settings: object = {}): object {
  return { command: process.execPath, args: [program], ...settings };
}

/** The same tools by HTTP. */
async function overHttp() {
  const child = fork(program, ['--http'], { stdio: ['ignore', 'pipe', 'inherit', 'ipc'] });
  const [port] = await once(child.stdout ?? child, 'data');
  return {
    config: {
      url: `http://127.0.0.1:${Number(String(port))}/mcp`,
      headers: { authorization: 'Bearer mcp-key' },
    },
    /** It forgets its sessions. */
    forget: () => void child.send('forget'),
    /** Waits until a call hangs. */
    hangs: () => once(child, 'message'),
    [Symbol.asyncDispose]: async () => {
      child.kill();
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
    },
  };
}

/** The results that the model saw last. */
function shown({ asked }: AgentLab): unknown[] {
  const messages = asked.at(-1)?.body.messages ?? [];
  return messages.flatMap((one) => (one.role === 'tool' ? one.content : []));
}

function names({ asked }: AgentLab): string[] {
  return (asked.at(-1)?.body.tools ?? []).map((tool) => tool.function.name);
}

const call = (tool: string, args: object = {}): readonly [string, object] => [
  `mcp__it__${tool}`,
  args,
];

async function asked(answers: readonly Answer[], server: object, options = {}): Promise<AgentLab> {
  const lab = await agentLab(answers, { mcpServers: { it: server } }, options);
  await lab.test.say('go');
  return lab;
}

describe.each(['stdio', 'streamable HTTP'])('the tools of an MCP server on %s', (kind) => {
  it('are offered with names of their own, called, and their results shown', async () => {
    await using http = kind === 'stdio' ? undefined : await overHttp();
    const answers = [calls(call('echo', { text: 'tea' }), call('fail')), says('Done.')];
    await using lab = await asked(answers, http?.config ?? stdio());
    expect(names(lab)).toContain('mcp__it__echo');
    expect(names(lab)).toContainEqual(
      expect.stringMatching(/^mcp__it__odd_name_with_spaces_[0-9a-f]{8}$/),
    );
    expect(shown(lab)).toEqual(['heard tea', 'the disk is full']);
    expect(lab.test.of('agent.tool.called').map(({ payload }) => payload.isError)).toEqual([
      false,
      true,
    ]);
    expect(lab.test.replies()).toEqual(['Done.']);
  });

  it('tell of their steps, and change their list', async () => {
    await using http = kind === 'stdio' ? undefined : await overHttp();
    const answers = [calls(call('steps')), calls(call('more')), says('Done.')];
    await using lab = await asked(answers, http?.config ?? stdio());
    const progress = lab.test.of('agent.output.delta').map(({ payload }) => payload);
    expect(progress).toContainEqual(expect.objectContaining({ kind: 'tool-progress' }));
    expect(shown(lab)).toEqual(['done', 'there is one more']);
    // over HTTP the list comes on another stream than the answer
    await vi.waitFor(
      async () => {
        await lab.test.say('again');
        expect(names(lab)).toContain('mcp__it__extra-0');
      },
      { timeout: 60_000, interval: 50 },
    );
  });

  it('that hang end at their limit', async () => {
    await using http = kind === 'stdio' ? undefined : await overHttp();
    const clock = virtualClock();
    const server = { ...(http?.config ?? stdio()), callTimeoutMs: 5_000 };
    const lab = await agentLab(
      [calls(call('hang')), says('Done.')],
      { mcpServers: { it: server } },
      { clock },
    );
    await using _ = lab;
    const said = lab.test.say('go');
    while (lab.test.of('agent.tool.calling').length === 0) await new Promise(setImmediate);
    await new Promise(setImmediate);
    await clock.advance(5_000);
    await said;
    expect(shown(lab)).toEqual(['the tool did not answer within 5000 ms']);
  });

  it('that answer too much have failed, and the server is used again', async () => {
    await using http = kind === 'stdio' ? undefined : await overHttp();
    const clock = virtualClock();
    const server = { ...(http?.config ?? stdio()), maxMessageBytes: 1_000_000 };
    const config = { mcpServers: { it: server } };
    await using lab = await agentLab(
      [calls(call('big')), says('Done.'), calls(call('echo', { text: 'tea' })), says('Done.')],
      config,
      { clock },
    );
    await lab.test.say('go');
    expect(shown(lab)).toEqual([expect.stringMatching(/^the tool failed: /)]);
    await clock.advance(60_000);
    await lab.test.say('again');
    expect(shown(lab)).toContain('heard tea');
  });
});

describe('an MCP server', () => {
  it('gets no environment but its own', async () => {
    process.env['SECRET'] = 'of the host';
    await using lab = await asked(
      [calls(call('env')), says('Done.')],
      stdio({ env: { OURS: 'yes' } }),
    );
    delete process.env['SECRET'];
    expect(shown(lab)).toEqual(['{"ours":"yes","secret":null}']);
  });

  it('that dies in a call fails that call alone, and is started again after a while', async () => {
    const clock = virtualClock();
    const answers = [
      calls(call('crash'), call('pid')),
      says('Done.'),
      says('Alone.'),
      calls(call('pid')),
      says('Done.'),
    ];
    await using lab = await agentLab(answers, { mcpServers: { it: stdio() } }, { clock });
    await lab.test.say('go');
    expect(shown(lab)[0]).toMatch(/^the tool failed: /);
    await lab.test.say('now'); // it is not started in a circle
    expect(names(lab)).toEqual([]);
    await clock.advance(1_000);
    await lab.test.say('later');
    expect(names(lab)).toContain('mcp__it__pid');
    expect(shown(lab).at(-1)).toMatch(/^\d+$/);
  });

  it('that crashes again and again is started again after longer and longer times', async () => {
    const clock = virtualClock();
    const crash = calls(call('crash'));
    const answers = [crash, says('1.'), crash, says('2.'), says('Alone.'), says('Back.')];
    await using lab = await agentLab(answers, { mcpServers: { it: stdio() } }, { clock });
    await lab.test.say('go');
    await clock.advance(1_000);
    await lab.test.say('again');
    await clock.advance(1_000);
    await lab.test.say('now');
    expect(names(lab)).toEqual([]);
    await clock.advance(1_000);
    await lab.test.say('later');
    expect(names(lab)).toContain('mcp__it__pid');
  });

  it('of HTTP that dies in a call fails that call before its limit', async () => {
    const http = await overHttp();
    const clock = virtualClock();
    const config = { mcpServers: { it: http.config } };
    await using lab = await agentLab([calls(call('hang')), says('Done.')], config, { clock });
    const said = lab.test.say('go');
    await http.hangs();
    await http[Symbol.asyncDispose]();
    await said;
    expect(shown(lab)).toEqual([
      expect.stringMatching(/^the tool failed: .*(Connection closed|fetch failed)/),
    ]);
  });

  it('that has not answered yet is stopped with the extension', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'sluice-mcp-'));
    const file = join(folder, 'pid');
    const script = `require('node:fs').writeFileSync(${JSON.stringify(file)}, String(process.pid)); setInterval(() => 0, 1000)`;
    const server = stdio({ args: ['-e', script], startTimeoutMs: 600_000 });
    const lab = await agentLab([says('Hi.')], { mcpServers: { it: server } });
    await vi.waitFor(() => expect(readFileSync(file, 'utf8')).toMatch(/\d/), 60_000);
    await lab[Symbol.asyncDispose]();
    const pid = Number(readFileSync(file, 'utf8'));
    await vi.waitFor(() => expect(() => process.kill(pid, 0)).toThrow('ESRCH'), 60_000);
    rmSync(folder, { recursive: true });
  });

  it('that cannot be started is told in the log, and the turn goes on without it', async () => {
    await using lab = await asked(
      [says('Alone.')],
      stdio({ args: ['-e', 'console.error("no disk"); process.exit(1)'] }),
    );
    expect(lab.test.replies()).toEqual(['Alone.']);
    const told = lab.test.log.entries.find(
      ({ message }) => message === 'an MCP server cannot be used',
    );
    expect(told?.fields).toMatchObject({
      server: 'it',
      problem: expect.stringContaining('no disk'),
      hint: expect.stringContaining('mcpServers'),
    });
  });

  it('that has forgotten the session is connected anew', async () => {
    await using http = await overHttp();
    const answers = [
      calls(call('echo', { text: 'a' })),
      says('1.'),
      calls(call('echo', { text: 'b' })),
      calls(call('echo', { text: 'c' })),
      says('2.'),
    ];
    await using lab = await agentLab(answers, { mcpServers: { it: http.config } });
    await lab.test.say('go');
    http.forget();
    await lab.test.say('again');
    expect(shown(lab).at(-1)).toBe('heard c');
  });

  it('with a wrong key has no tools', async () => {
    await using http = await overHttp();
    await using lab = await asked([says('Alone.')], { ...http.config, headers: {} });
    expect(names(lab)).toEqual([]);
    expect(lab.test.replies()).toEqual(['Alone.']);
  });

  it('gives the tools alone that its settings allow, to the agents that have them', async () => {
    const agents = { agent: { tools: [] }, mcpServers: { it: stdio() } };
    await using without = await agentLab([says('Alone.')], agents);
    await without.test.say('go');
    expect(names(without)).toEqual([]);
    await using lab = await asked([says('Done.')], stdio({ allow: ['echo', 'pid'] }));
    expect(names(lab)).toEqual(['mcp__it__echo', 'mcp__it__pid']);
  });

  it('is stopped with the extension', async () => {
    const lab = await asked([calls(call('pid')), says('Done.')], stdio());
    const [pid] = shown(lab);
    await lab[Symbol.asyncDispose]();
    await vi.waitFor(() => expect(() => process.kill(Number(pid), 0)).toThrow('ESRCH'), 60_000);
  });
});

describe('a long result', () => {
  it('is cut for the model, which is told, and whole in the transcript', async () => {
    await using lab = await asked([calls(call('long')), says('Done.')], stdio());
    const [result] = shown(lab) as string[];
    expect(result?.length).toBeLessThan(50_100);
    expect(result).toMatch(/\[cut: these are 50000 of 300000 characters\]$/);
    const kept = (await lab.test.transcript()).find(({ role }) => role === 'toolResult');
    expect(JSON.stringify(kept).length).toBeGreaterThan(300_000);
  });

  it('that is a picture is shown as one', async () => {
    await using lab = await asked([calls(call('picture')), says('Done.')], stdio());
    expect(shown(lab)).toEqual(['[a picture: image/png]']);
    expect(lab.asked.at(-1)?.body.messages.at(-1)).toMatchObject({
      role: 'user',
      content: [
        { type: 'text' },
        { image_url: { url: expect.stringMatching(/^data:image\/png;base64,iVBOR/) } },
      ],
    });
  });
});

describe('a picture', () => {
  it('is not shown with the result of an earlier turn, also if the server gives each call the same id', async () => {
    const turn = [calls(call('picture')), says('Done.')];
    await using lab = await asked([...turn, ...turn], stdio());
    await lab.test.say('again');
    const { messages = [] } = lab.asked.at(-1)?.body ?? {};
    expect(messages.filter(({ content }) => typeof content === 'object' && content)).toHaveLength(
      1,
    );
    expect(messages.map(({ role }) => role)).toEqual([
      ...['user', 'assistant', 'tool', 'assistant'],
      ...['user', 'assistant', 'tool', 'assistant', 'user'],
    ]);
  });
});

describe('the context of a trace', () => {
  afterEach(() => {
    propagation.disable();
    context.disable();
  });

  it('goes out in _meta: that which a tap has put around the tool (sight §5.8)', async () => {
    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
    let active = ROOT_CONTEXT;
    propagation.setGlobalPropagator({
      inject: (_, carrier, setter) => {
        if (active === marked) setter.set(carrier, 'traceparent', traceparent);
      },
      extract: (from) => from,
      fields: () => ['traceparent'],
    });
    const marked = ROOT_CONTEXT.setValue(Symbol('mark'), true);
    const tracing = defineExtension({
      id: 'tracing',
      setup: (api) =>
        void api.tap({
          around: (run, of) => {
            if (of.tool?.toolName !== 'mcp__it__meta') return run();
            active = marked;
            return run();
          },
        }),
    });
    await using lab = await asked([calls(call('meta')), says('Done.')], stdio(), {
      grants: { tracing: ['tap'], openai: ['provide:agent'] },
      extensions: [tracing],
    });
    expect(JSON.parse(String(shown(lab)[0]))).toMatchObject({ traceparent });
  });
});

describe('the name of a tool for a model', () => {
  it('has the form that servers take, and tells different tools apart', () => {
    const odd = ['a.b', 'a b', 'a/b', 'a_b', 'x'.repeat(80), `${'x'.repeat(80)}y`, 'ü', ''];
    const all = odd.map((tool) => toolName('s', tool));
    expect(new Set(all).size).toBe(odd.length);
    for (const name of all) expect(name).toMatch(/^mcp__[\w-]{1,59}$/);
  });
});
