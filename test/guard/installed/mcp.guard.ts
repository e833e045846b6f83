import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import process from 'node:process';
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import {
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  ListRootsRequestSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { afterEach, describe, expect, it } from 'vitest';
import { lineTransport } from '../../../extensions/guard/src/mcp/lines.js';
import { type McpOptions, usualBounds } from '../../../extensions/guard/src/mcp/options.js';
import { runMcp } from '../../../extensions/guard/src/mcp/proxy.js';
import { systemClock } from '../../../src/kernel/index.js';
import { cliProgram } from '../../support/compiled.js';
import { root } from '../../support/source-tree.js';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { allow, optionsWith, type TestJudge } from '../mcp/mcp-lab.js';
import { installMcpServers } from './install-servers.js';

const programs = await installMcpServers();
const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

const folder = () => {
  const made = temporaryFolder({ 'a.txt': 'the first', 'secret.txt': 'the key is sk-SECRET' });
  closing.push(() => made[Symbol.dispose]());
  return made.path;
};
const plainEnv = (more: Record<string, string> = {}) => ({
  PATH: process.env['PATH'] ?? '',
  ...more,
});

/** Starts a proxy. @returns a transport for its client. */
async function proxied(options: Partial<McpOptions>, judge: TestJudge = allow): Promise<Transport> {
  const [stdin, stdout] = [new PassThrough(), new PassThrough()];
  const write = async (text: string) => void stdout.write(text);
  const given = optionsWith(judge, {
    stdin,
    write,
    clock: systemClock,
    env: plainEnv(),
    ...options,
  });
  const running = runMcp(given.options);
  closing.push(() => {
    given.stop.abort();
    return running;
  });
  if (options.port === undefined)
    return lineTransport({
      ...{ input: stdout, write: async (text: string) => stdin.write(text) },
      maxBytes: usualBounds.maxBytes,
    });
  await expect.poll(() => given.warnings).toHaveLength(1);
  const [, url = '', authorization = ''] =
    /at (\S+), with "Authorization: (.*)"/.exec(given.warnings[0] ?? '') ?? [];
  return overHttp(url, { authorization });
}

function overHttp(url: string, headers: Record<string, string> = {}): Transport {
  const transport = new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } });
  return transport as Transport; // its sessionId may be undefined, which the type of transports forbids
}

/** Connects a client that can all that the protocol has. */
async function connected(transport: Transport, root = '/work'): Promise<Client> {
  const can = { sampling: {}, elicitation: {}, roots: { listChanged: true } };
  const client = new Client({ name: 'test', version: '1' }, { capabilities: can });
  client.setRequestHandler(ListRootsRequestSchema, () => ({ roots: [{ uri: `file://${root}` }] }));
  client.setRequestHandler(CreateMessageRequestSchema, ({ params }) => ({
    ...{ model: 'loopback', role: 'assistant' as const },
    content: { type: 'text' as const, text: JSON.stringify(params.messages) },
  }));
  client.setRequestHandler(ElicitRequestSchema, () => ({ action: 'decline' as const }));
  await client.connect(transport);
  closing.push(() => client.close());
  return client;
}

/** A session with the server "everything": each answer, without what differs from run to run. */
async function everything(client: Client): Promise<unknown[]> {
  const said: unknown[] = [client.getServerCapabilities(), client.getServerVersion()];
  const note = async (work: Promise<unknown>) =>
    said.push(await work.catch(({ message }) => ({ failed: message })));
  const call = (name: string, args = {}) => note(client.callTool({ name, arguments: args }));
  await note(client.ping());
  await note(client.listTools());
  await note(client.listPrompts());
  await note(client.listResources());
  await note(client.listResourceTemplates());
  await call('echo', { message: 'hello' });
  await call('get-sum', { a: 1, b: 2 });
  await call('get-sum', { a: 'one' });
  await call('there-is-none');
  await call('get-annotated-message', { messageType: 'error', includeImage: true });
  await call('get-tiny-image');
  await call('get-resource-links', { count: 2 });
  await call('get-resource-reference', { resourceType: 'Text', resourceId: 1 });
  await call('get-structured-content', { location: 'Chicago' });
  await call('get-roots-list');
  await call('trigger-sampling-request', { prompt: 'say yes', maxTokens: 5 });
  await call('trigger-elicitation-request');
  const steps: unknown[] = [];
  const long = { name: 'trigger-long-running-operation', arguments: { duration: 0.2, steps: 4 } };
  await note(client.callTool(long, undefined, { onprogress: (step) => void steps.push(step) }));
  const stop = new AbortController();
  const cancelled = client.callTool(
    { ...long, arguments: { duration: 60, steps: 60 } },
    undefined,
    {
      ...{ signal: stop.signal, timeout: 300_000 },
      onprogress: () => stop.abort('enough'),
    },
  );
  await note(cancelled);
  const research = client.experimental.tasks.callToolStream({
    ...{ name: 'simulate-research-query', arguments: { topic: 'proxies' } },
  });
  for await (const { type, ...rest } of research)
    if (type === 'result' || type === 'error') said.push(type, rest);
  await note(client.readResource({ uri: 'demo://resource/static/document/features.md' }));
  await note(client.readResource({ uri: 'demo://resource/there/is/none' }));
  await note(client.subscribeResource({ uri: 'demo://resource/dynamic/text/1' }));
  await note(client.getPrompt({ name: 'args-prompt', arguments: { city: 'Lisbon' } }));
  const argument = { name: 'department', value: 'E' };
  await note(
    client.complete({ ref: { type: 'ref/prompt', name: 'completable-prompt' }, argument }),
  );
  await note(client.setLoggingLevel('debug'));
  // the last step comes with the result: the client may forget it for that
  const changing =
    /[0-9a-f]{8}-[0-9a-f-]{27}|[0-9a-f]{32}|\d{1,2}:\d\d:\d\d( [AP]M)?|\d{4}-\d\d-\d\dT[\d:.]+Z/g;
  return JSON.parse(JSON.stringify([...said, steps.slice(0, 3)]).replace(changing, '#'));
}

/** Starts the server "everything" on a port. */
async function everythingOnPort(): Promise<string> {
  const free = createServer().listen(0, '127.0.0.1');
  await once(free, 'listening');
  const { port } = Object(free.address());
  free.close();
  await once(free, 'close');
  const child = spawn(process.execPath, [programs.everything, 'streamableHttp'], {
    ...{ env: plainEnv({ PORT: String(port) }), stdio: ['ignore', 'ignore', 'pipe'] as const },
  });
  closing.push(() => child.kill());
  for await (const piece of child.stderr ?? []) if (String(piece).includes(String(port))) break;
  child.stderr?.resume();
  return `http://127.0.0.1:${port}/mcp`;
}

describe('the server "everything"', () => {
  it('answers the same with the proxy before it as without it, on stdio and over HTTP', async () => {
    const command = [process.execPath, programs.everything, 'stdio'];
    const direct = new StdioClientTransport({
      command: process.execPath,
      args: command.slice(1),
      env: plainEnv(),
    });
    const own = await everything(await connected(direct));
    expect(own).toHaveLength(30);
    for (const port of [undefined, 0]) {
      const given = { server: { command }, ...(port !== undefined && { port }) };
      const client = await connected(await proxied(given));
      expect(await everything(client)).toEqual(own);
    }
    const url = await everythingOnPort();
    const overIt = await everything(await connected(overHttp(url)));
    for (const port of [undefined, 0]) {
      const given = { server: { url }, ...(port !== undefined && { port }) };
      const client = await connected(await proxied(given));
      expect(await everything(client)).toEqual(overIt);
    }
  });

  it('has a tool refused, another hidden, and the result of a task changed', async () => {
    const judge: TestJudge = (point, { toolName, result }) => {
      if (toolName === 'mcp__every__get-sum') return { status: 'refused', reason: 'no sums' };
      const text = result?.text.replaceAll('proxies', '***');
      return point === 'agent.tool.returning' && text !== undefined
        ? { status: 'allowed', result: text }
        : { status: 'allowed' };
    };
    const command = [process.execPath, programs.everything, 'stdio'];
    const client = await connected(
      await proxied(
        { server: { command }, name: 'every', hide: ['get-*-image', 'get-env'] },
        judge,
      ),
    );
    const names = (await client.listTools()).tools.map(({ name }) => name);
    expect(names).toContain('echo');
    expect(names).not.toContain('get-env');
    const sum = await client.callTool({ name: 'get-sum', arguments: { a: 1, b: 2 } });
    expect(sum).toEqual({ content: [{ type: 'text', text: 'no sums' }], isError: true });
    expect(await client.callTool({ name: 'get-env' })).toMatchObject({ isError: true });
    const said = [];
    const research = { name: 'simulate-research-query', arguments: { topic: 'proxies' } };
    for await (const one of client.experimental.tasks.callToolStream(research))
      if (one.type === 'result') said.push(JSON.stringify(one.result));
    expect(said).toHaveLength(1);
    expect(said[0]).toContain('***');
    expect(said[0]).not.toContain('proxies');
  });
});

describe('the server of files', () => {
  it('does not write what is refused, and a result without its secret is still one that fits its schema', async () => {
    const judge: TestJudge = (point, { toolName, params, result }) => {
      if (toolName === 'mcp__files__write_file' && !String(params?.['path']).endsWith('.md'))
        return { status: 'refused', reason: 'only notes may be written' };
      const text = result?.text.replaceAll('sk-SECRET', '***');
      return point === 'agent.tool.returning' && text !== undefined
        ? { status: 'allowed', result: text }
        : { status: 'allowed' };
    };
    const place = folder();
    const command = [process.execPath, programs.filesystem, place];
    const client = await connected(
      await proxied({ server: { command }, name: 'files' }, judge),
      place,
    );
    await client.listTools(); // the client checks results against the schemas of these
    const at = (name: string) => join(place, name);
    const read = await client.callTool({
      name: 'read_text_file',
      arguments: { path: at('secret.txt') },
    });
    expect(read).toMatchObject({ structuredContent: { content: 'the key is ***' } });
    expect(JSON.stringify(read)).not.toContain('SECRET');
    const write = (path: string) =>
      client.callTool({ name: 'write_file', arguments: { path: at(path), content: 'changed' } });
    expect(await write('a.txt')).toMatchObject({ isError: true });
    expect(readFileSync(at('a.txt'), 'utf8')).toBe('the first');
    expect((await write('b.md')).isError).not.toBe(true);
    expect(readFileSync(at('b.md'), 'utf8')).toBe('changed');
  });
});

describe('the command `sluice guard mcp`', () => {
  const sluice = (...args: string[]) => [cliProgram, 'guard', ...args];
  const place = () => {
    const made = temporaryFolder({
      'a.txt': 'the first',
      'policies.yaml': `
- id: no-notes
  family: agent.tool.calling
  match: { toolName: [mcp__files__write_file] }
  deny when: "params.path.endsWith('.md')"
  text: Notes are written by people.
  expect:
    - { payload: { toolName: mcp__files__write_file, params: { path: a.md } }, is: denied }
`,
      'guard.json': JSON.stringify({
        extensions: [
          {
            path: join(root, 'extensions/guard/dist/index.js'),
            config: { policies: ['./policies.yaml'], port: 0 },
          },
        ],
        journal: { path: './guard.db' },
        grants: { guard: ['dispatch:*'] },
      }),
    });
    closing.push(() => made[Symbol.dispose]());
    return made.path;
  };

  it('has a running guard judge the tools of a server, and stops them when the guard is killed', async () => {
    const folder = place();
    const config = join(folder, 'guard.json');
    const guard = spawn(process.execPath, sluice('run', '--config', config), {
      ...{ cwd: root, stdio: ['ignore', 'inherit', 'inherit'] as const },
    });
    closing.push(() => guard.kill('SIGKILL'));
    await expect.poll(() => existsSync(join(folder, 'guard/door.json'))).toBe(true);
    const transport = new StdioClientTransport({
      command: process.execPath,
      args: sluice(
        ...['mcp', '--config', config, '--name', 'files', '--hide', 'move_*'],
        ...['--', process.execPath, programs.filesystem, folder],
      ),
      cwd: root,
    });
    const client = await connected(transport, folder);
    const names = (await client.listTools()).tools.map(({ name }) => name);
    expect(names).toContain('write_file');
    expect(names).not.toContain('move_file');
    const write = (name: string) =>
      client.callTool({
        name: 'write_file',
        arguments: { path: join(folder, name), content: 'changed' },
      });
    expect(await write('b.txt')).toMatchObject({
      content: [{ text: expect.stringMatching(/^Successfully wrote/) }],
    });
    expect(readFileSync(join(folder, 'b.txt'), 'utf8')).toBe('changed');
    expect(await write('b.md')).toMatchObject({
      ...{ isError: true, content: [{ text: 'Notes are written by people.' }] },
    });
    expect(existsSync(join(folder, 'b.md'))).toBe(false);
    guard.kill('SIGKILL');
    await once(guard, 'exit');
    expect(await write('c.txt')).toMatchObject({
      ...{ isError: true, content: [{ text: expect.stringMatching(/guard is away/) }] },
    });
    expect(existsSync(join(folder, 'c.txt'))).toBe(false);
  });

  it('does not tell the server the token that clients give', async () => {
    const code = `console.log(JSON.stringify({ jsonrpc: '2.0', method: 'x', params: process.env }))`;
    const args = sluice('mcp', '--', process.execPath, '-e', code);
    const env = plainEnv({ SLUICE_MCP_TOKEN: 'clients-alone', OTHER: 'told' });
    const child = spawn(process.execPath, args, { cwd: root, env });
    const [said] = await Promise.all([text(child.stdout), once(child, 'exit')]);
    expect(said).toContain('told');
    expect(said).not.toContain('clients-alone');
  });

  it.each([
    [['mcp'], /name one server/],
    [['mcp', '--url', 'http://127.0.0.1:1/mcp', '--', 'node'], /name one server/],
    [['mcp', '--listen', 'x', '--', 'node'], /that is no port/],
    [['mcp', '--header', 'X=THERE_IS_NONE', '--url', 'http://127.0.0.1:1/mcp'], /THERE_IS_NONE/],
    [['mcp', '--', '/there/is/no/program'], /ENOENT/],
  ])('refuses %j, and says why', async (args, words) => {
    const child = spawn(process.execPath, sluice(...args), { cwd: root });
    const [said] = await Promise.all([text(child.stderr), once(child, 'exit')]);
    expect(said).toMatch(words);
    expect(child.exitCode).toBe(2);
  });
});

describe('the server of memory', () => {
  it('keeps what it is told, with the arguments of the verdict, and ends with its client', async () => {
    const file = join(folder(), 'memory.jsonl');
    writeFileSync(file, '');
    const judge: TestJudge = (point, { toolName, params }) =>
      point === 'agent.tool.calling' && toolName?.endsWith('create_entities') === true
        ? {
            status: 'allowed',
            params: JSON.parse(JSON.stringify(params).replaceAll('sk-1', '***')),
          }
        : { status: 'allowed' };
    const command = [process.execPath, programs.memory];
    const env = plainEnv({ MEMORY_FILE_PATH: file });
    const client = await connected(await proxied({ server: { command }, env }, judge));
    await client.listTools();
    const entities = [{ name: 'Ann', entityType: 'person', observations: ['has sk-1'] }];
    await client.callTool({ name: 'create_entities', arguments: { entities } });
    const graph = await client.callTool({ name: 'read_graph' });
    expect(graph.structuredContent).toMatchObject({ entities: [{ observations: ['has ***'] }] });
    expect(readFileSync(file, 'utf8')).not.toContain('sk-1');
  });
});
