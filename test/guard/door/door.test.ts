import { statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { agents } from '../../../extensions/guard/src/agents/index.js';
import { openDoor } from '../../../extensions/guard/src/door/door.js';
import { refusalsWhenAway } from '../../../extensions/guard/src/door/hooks.js';
import { isRunning, readDoor, tokenOf } from '../../../extensions/guard/src/door/place.js';
import { defineExtension } from '../../../src/sdk/extension/index.js';
import { collectingLogger } from '../../../src/testing/index.js';
import { guardLab, preToolUse, refusalIn } from '../../support/guard-lab.js';
import { temporaryFolder } from '../../support/temporary-folder.js';

describe('the door of a guard', () => {
  it('refuses a call by a rule, and lets another pass, by port and by socket', async () => {
    await using lab = await guardLab();
    expect(await lab.call('rm -rf /')).toBe('Nothing is removed here.');
    expect(await lab.call('ls')).toBeUndefined();
    const bySocket = await lab.ask({ body: preToolUse('rm -rf /'), bySocket: true });
    expect(refusalIn(bySocket)).toBe('Nothing is removed here.');
    expect((await lab.ask({ body: preToolUse('ls') })).body).toBe('{}');
  });

  it('says in the event who has called what, for whom, under which policies', async () => {
    await using lab = await guardLab({ config: { roles: ['dev'] } });
    await lab.call('ls');
    const [outcome] = lab.test.of('agent.tool.calling');
    expect(outcome?.event).toMatchObject({
      ...{ agentId: 'claude', sessionId: 'claude:s1', correlationId: 'claude:s1:t1' },
      payload: { toolName: 'shell', params: { command: 'ls' }, channel: 'guard' },
      metadata: {
        guard: { agent: 'claude', tool: 'Bash', policies: expect.stringMatching(/^sha256:/) },
      },
    });
    expect(outcome?.principal).toMatchObject({ channel: 'guard', isOwner: false, roles: ['dev'] });
  });

  it('gives changed parameters back in the words of the agent', async () => {
    const clamp = defineExtension({
      id: 'clamp',
      setup: (api) =>
        api.mutate('agent.tool.calling', 'safe', ({ payload: { params } }) => ({
          params: { command: `nice ${params['command']}` },
        })),
    });
    await using lab = await guardLab({ extensions: [clamp] });
    const { body } = await lab.ask({ body: preToolUse('make') });
    expect(JSON.parse(body)).toMatchObject({
      hookSpecificOutput: { updatedInput: { command: 'nice make' } },
    });
  });

  it('judges a result, and hears of the other points', async () => {
    const hide = defineExtension({
      id: 'hide',
      setup: (api) =>
        api.mutate('agent.tool.returning', 'keys', ({ payload: { result } }) => ({
          result: { ...result, content: [{ type: 'text' as const, text: 'no key' }] },
        })),
    });
    await using lab = await guardLab({ extensions: [hide] });
    const base = { session_id: 's1', cwd: '/tmp' };
    const after = { hook_event_name: 'PostToolUse', tool_response: 'sk-1' };
    const { body } = await lab.ask({
      path: '/hook/claude/PostToolUse',
      body: preToolUse('cat key', after),
    });
    expect(JSON.parse(body)).toMatchObject({ hookSpecificOutput: { updatedToolOutput: 'no key' } });
    for (const [hook, more] of [
      ['SessionStart', { source: 'startup' }],
      ['UserPromptSubmit', { prompt: 'hello' }],
      ['Stop', { last_assistant_message: 'done' }],
    ] as const)
      expect(
        await lab.ask({
          path: `/hook/claude/${hook}`,
          body: JSON.stringify({ ...base, hook_event_name: hook, ...more }),
        }),
      ).toEqual({ status: 200, body: '{}' });
    expect(lab.test.of('session.starting')).toHaveLength(1);
    expect(lab.test.of('ingress.normalized')[0]?.payload.content).toBe('hello');
    expect(lab.test.of('agent.completed')[0]?.payload.success).toBe(true);
  });

  it('answers a command with all that its client prints', async () => {
    await using lab = await guardLab();
    const path = '/hook/claude/PreToolUse?transport=command';
    const { body } = await lab.ask({ path, body: preToolUse('rm -rf /') });
    expect(JSON.parse(body)).toMatchObject({ exitCode: 0, body: { hookSpecificOutput: {} } });
  });

  it('gives the proxy of MCP a verdict', async () => {
    await using lab = await guardLab();
    const heard = { agent: 'mcp', sessionId: 's', workspaceDir: '/tmp', toolName: 'shell' };
    const judged = async (point: string, more: object) =>
      JSON.parse(
        (await lab.ask({ path: `/judge/${point}`, body: JSON.stringify({ ...heard, ...more }) }))
          .body,
      );
    const denied = await judged('agent.tool.calling', { params: { command: 'rm -rf /' } });
    expect(denied).toEqual({ status: 'refused', reason: 'Nothing is removed here.' });
    const result = { text: 'ok', isError: false };
    expect(await judged('agent.tool.returning', { params: {}, result })).toEqual({
      status: 'allowed',
    });
    expect(await judged('agent.tool.calling', { sessionId: 7 })).toMatchObject({
      status: 'refused',
    });
  });

  it('keeps a call that is refused already, with the reason, and does not allow it', async () => {
    await using lab = await guardLab();
    const reason = 'the tool "drop" is not available';
    const heard = { agent: 'mcp', sessionId: 's', workspaceDir: '/tmp', toolName: 'mcp__s__drop' };
    const body = JSON.stringify({ ...heard, params: { all: true }, toolCallId: '1', reason });
    const answer = await lab.ask({ path: '/judge/agent.tool.calling', body });
    expect(JSON.parse(answer.body)).toEqual({ status: 'refused', reason });
    expect(lab.test.of('agent.tool.calling')).toMatchObject([
      {
        event: { metadata: { guard: { tool: 'mcp__s__drop', refused: reason } } },
        payload: { toolName: 'mcp__s__drop', params: { all: true }, sessionId: 'mcp:s' },
      },
    ]);
  });

  it.each([
    ['no JSON', '{"session_id":', 'no JSON object'],
    ['a list', '[]', 'no JSON object'],
    ['nothing', '', 'no JSON object'],
    ['broken UTF-8', Buffer.from([0x7b, 0xff, 0x7d]), 'no JSON object'],
    ['a field that is missing', preToolUse('ls', { tool_name: undefined }), 'tool_name'],
    ['another hook', preToolUse('ls', { hook_event_name: 'Stop' }), 'hook_event_name'],
    ['a parameter of another type', preToolUse('ls', { tool_input: { command: 7 } }), 'command'],
    ['more than 10 MB', preToolUse('x'.repeat(11 * 1_048_576)), 'larger than 10 MB'],
  ])('refuses %s in the words of the agent', async (_, body, why) => {
    await using lab = await guardLab();
    expect(refusalIn(await lab.ask({ body }))).toContain(why);
    expect(lab.test.of('agent.tool.calling')).toEqual([]);
  });

  it('refuses what is malformed in the words of each agent, at each of its hooks', async () => {
    await using lab = await guardLab();
    const hooks = agents.flatMap(({ agent, points }) =>
      Object.values(points).map(({ hook, write }) => ({ path: `/hook/${agent}/${hook}`, write })),
    );
    expect(hooks.length).toBeGreaterThan(4);
    const reason = 'the guard cannot judge this: its input is no JSON object';
    for (const { path, write } of hooks) {
      const { status, body } = await lab.ask({ path: `${path}?transport=command`, body: '{' });
      expect([path, status, JSON.parse(body)]).toEqual([
        path,
        200,
        JSON.parse(JSON.stringify(write({ status: 'refused', reason }, {}))),
      ]);
    }
    expect(Object.keys(refusalsWhenAway())).toEqual(hooks.map(({ path }) => path.slice(6)));
    expect(lab.test.of('agent.tool.calling')).toEqual([]);
  });

  it('judges an input of 9 MB', async () => {
    await using lab = await guardLab();
    expect(await lab.call(`rm -rf ${'x'.repeat(9 * 1_048_576)}`)).toMatch(/removed|failed/);
  });

  it('decides 200 calls that come at once', async () => {
    await using lab = await guardLab();
    const calls = Array.from({ length: 200 }, (_, at) =>
      lab.call(at % 2 === 0 ? 'ls' : 'rm -rf /', { tool_use_id: `t${at}`, session_id: `s${at}` }),
    );
    const refused = (await Promise.all(calls)).filter((one) => one !== undefined);
    expect(refused).toEqual(Array(100).fill('Nothing is removed here.'));
    expect(lab.test.of('agent.tool.calling')).toHaveLength(200);
  });

  it('refuses a call if a rule fails', async () => {
    const broken = defineExtension({
      id: 'broken',
      setup: (api) =>
        api.veto('agent.tool.calling', 'x', { failClosed: true }, () => {
          throw new Error('a secret');
        }),
    });
    await using lab = await guardLab({ extensions: [broken] });
    const words = await lab.call('ls');
    expect(words).toContain('broken/x');
    expect(words).not.toContain('a secret');
  });
});

describe('whoever may not ask', () => {
  it.each([
    ['no token', { authorization: undefined }, 401],
    ['another token', { authorization: 'Bearer x' }, 401],
    ['the token in no Bearer', { authorization: 'Basic x' }, 401],
    ['a page of another site', { origin: 'https://evil.example' }, 403],
    ['a page of this machine', { origin: 'http://127.0.0.1:3000' }, 403],
    ['a page without an origin', { 'sec-fetch-site': 'cross-site' }, 403],
    ['a name that was bound to this machine', { host: 'evil.example:7867' }, 403],
  ])('gets nothing: %s', async (_, headers, status) => {
    await using lab = await guardLab();
    const answer = await lab.ask({ headers, body: preToolUse('ls') });
    expect(answer.status).toBe(status);
    expect(lab.test.of('agent.tool.calling')).toEqual([]);
  });

  it('gets no leave to ask from a page: a preflight is refused, and no header allows one', async () => {
    await using lab = await guardLab();
    const headers = { origin: 'https://evil.example', authorization: undefined };
    const { status } = await lab.ask({ method: 'OPTIONS', headers });
    expect(status).toBe(403);
    expect((await lab.ask({ method: 'GET' })).status).toBe(405);
  });

  it.each([
    '/',
    '/hook/nobody/PreToolUse',
    '/hook/claude/Nothing',
    '/judge/egress.sent',
    '/hook/claude',
  ])('finds nothing at %s', async (path) => {
    await using lab = await guardLab();
    expect((await lab.ask({ path, body: preToolUse('ls') })).status).toBe(404);
  });

  it("cannot read the token, nor come to the socket: both are the user's alone", async () => {
    await using lab = await guardLab();
    const mode = (name: string) => statSync(join(lab.folder, 'guard', name)).mode & 0o777;
    expect(mode('.')).toBe(0o700);
    for (const name of ['token', 'door.sock', 'door.json', 'away.json'])
      expect(mode(name)).toBe(0o600);
  });
});

describe('the place of a guard', () => {
  it('has one guard at a time, and is free again when that has stopped', async () => {
    const lab = await guardLab();
    const folder = join(lab.folder, 'guard');
    const parts = {
      folder,
      port: 0,
      log: collectingLogger(),
      whenAway: {},
      answer: async () => ({}),
    };
    await expect(openDoor(parts)).rejects.toThrow(`a guard runs already for ${folder}`);
    expect(await isRunning(folder)).toBe(true);
    await lab.test.host.stop({ timeoutMs: 0 });
    expect(await isRunning(folder)).toBe(false);
    await expect(readDoor(folder)).rejects.toThrow();
    const again = await openDoor(parts);
    expect(await isRunning(folder)).toBe(true);
    await again.close();
    await lab[Symbol.asyncDispose]();
  });

  it('leaves the place of another guard that opens at the same moment', async () => {
    await using lab = await guardLab();
    using folder = temporaryFolder({ 'door.json': '{"port":1}' });
    const { port } = lab.door; // it is taken
    const parts = { folder: folder.path, port, log: collectingLogger(), whenAway: {} };
    await expect(openDoor({ ...parts, answer: async () => ({}) })).rejects.toThrow('EADDRINUSE');
    expect(await readDoor(folder.path)).toMatchObject({ port: 1 });
  });

  it('keeps its token, and refuses one that others may read', async () => {
    await using lab = await guardLab();
    const folder = join(lab.folder, 'guard');
    expect(await tokenOf(folder)).toBe(lab.door.token);
    const { chmodSync } = await import('node:fs');
    chmodSync(join(folder, 'token'), 0o644);
    await expect(tokenOf(folder)).rejects.toThrow('others may read');
  });
});
