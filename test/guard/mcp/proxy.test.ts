import { spawnSync } from 'node:child_process';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import process from 'node:process';
import { PassThrough } from 'node:stream';
import { json } from 'node:stream/consumers';
import { afterEach, describe, expect, it } from 'vitest';
import { GuardAway, guardJudge } from '../../../extensions/guard/src/mcp/judge.js';
import type { McpOptions } from '../../../extensions/guard/src/mcp/options.js';
import { runMcp } from '../../../extensions/guard/src/mcp/proxy.js';
import { systemClock } from '../../../src/kernel/index.js';
import { allow, optionsWith, type Said, type TestJudge, within } from './mcp-lab.js';

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

/** A server in a few lines, which answers each request with its process id, or as its code says. */
const program = (code = '') => [
  process.execPath,
  '-e',
  `const say = (m) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...m }) + '\\n');
  require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
    const m = JSON.parse(line);
    ${code}
    if (m.id !== undefined) say({ id: m.id, result: { pid: process.pid } });
  });`,
];

/** A proxy on stdio, with a server that is a program. */
function stdioLab(
  command: readonly string[],
  judge: TestJudge = allow,
  more: Partial<McpOptions> = {},
) {
  const stdin = new PassThrough();
  const lines: string[] = [];
  const write = async (said: string) => void lines.push(said);
  const given = optionsWith(judge, {
    server: { command },
    stdin,
    write,
    clock: systemClock,
    ...more,
  });
  const running = runMcp(given.options);
  running.catch(() => undefined); // a test looks at it later
  closing.push(() => {
    given.stop.abort();
    return running.catch(() => undefined);
  });
  const say = (message: Said) =>
    void stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  const got = (): Said[] => lines.map((line) => JSON.parse(line));
  const pid = async (id = 1): Promise<number> => {
    say({ id, method: 'ping' });
    await expect.poll(() => got().find((one) => one['id'] === id)).toBeDefined();
    return Object(got().find((one) => one['id'] === id)?.['result']).pid;
  };
  return { ...given, stdin, lines, got, say, pid, running };
}

/** Returns whether a process runs: one that has ended and that nobody has waited for does not. */
const isAlive = (pid: number): boolean => {
  const { stdout } = spawnSync('ps', ['-o', 'stat=', '-p', String(pid)], { encoding: 'utf8' });
  return !/^(?:Z.*)?$/.test(stdout.trim());
};

describe('a proxy on stdio', () => {
  it('ends its server when its client leaves', async () => {
    const { stdin, pid, running } = stdioLab(program());
    const server = await pid();
    expect(isAlive(server)).toBe(true);
    stdin.end();
    expect(await running).toBe(true);
    expect(isAlive(server)).toBe(false);
  });

  it('ends a server that heeds nothing, with the programs that it has started', async () => {
    const code = `if (m.method === 'start') {
      process.on('SIGTERM', () => undefined);
      setInterval(() => undefined, 1000);
      const child = require('node:child_process').spawn(process.execPath,
        ['-e', "process.on('SIGTERM', () => 0); setInterval(() => 0, 1000); console.error('up')"], { stdio: ['ignore', 'ignore', 'pipe'] });
      return child.stderr.once('data', () => say({ id: m.id, result: { pid: child.pid } }));
    }`;
    const { say, got, pid, stop, running } = stdioLab(program(code));
    const server = await pid();
    say({ id: 2, method: 'start' });
    await expect.poll(() => got()).toHaveLength(2);
    const { pid: started } = Object(got()[1]?.['result']);
    stop.abort();
    expect(await running).toBe(true);
    await expect.poll(() => [isAlive(server), isAlive(started)]).toEqual([false, false]);
  });

  it('says so if its server dies, and lets no request hang', async () => {
    const { say, got, running } = stdioLab(program(`if (m.method === 'die') process.exit(3);`));
    say({ id: 1, method: 'die' });
    expect(await running).toBe(false);
    expect(got()).toMatchObject([{ id: 1, error: { message: 'the server has gone' } }]);
  });

  it('notices that its server has died, though a program that it has left holds its stdout', async () => {
    const code = `if (m.method === 'die') {
      const left = require('node:child_process').spawn(process.execPath, ['-e', 'setTimeout(() => 0, 600_000)'],
        { stdio: ['ignore', 'inherit', 'ignore'], detached: true });
      say({ id: m.id, result: { pid: left.pid } });
      return setImmediate(() => process.exit(0));
    }`;
    const { say, got, running } = stdioLab(program(code));
    say({ id: 1, method: 'die' });
    expect(await running).toBe(false);
    process.kill(Object(got()[0]?.['result']).pid);
  });

  it('listens once for the exit of this process, however many servers there are', async () => {
    const before = process.listenerCount('exit');
    const labs = [1, 2, 3].map(() => stdioLab(program()));
    for (const { pid } of labs) await pid();
    expect(process.listenerCount('exit')).toBe(before + 1);
    for (const { stop, running } of labs) {
      stop.abort();
      await running;
    }
    expect(process.listenerCount('exit')).toBe(before);
  });

  it('fails if its server cannot be started', async () => {
    await expect(stdioLab(['/there/is/no/such/program']).running).rejects.toThrow('ENOENT');
  });

  it('writes messages alone to stdout, whatever its server prints there', async () => {
    const { pid, lines, warnings } = stdioLab(program(`console.log('Server started!');`));
    await pid();
    expect(lines).toHaveLength(1);
    expect(warnings).toEqual(['the server has sent what is no JSON-RPC message']);
  });

  it('ends with a server whose message has no end', async () => {
    const code = `if (m.method === 'flood') { const on = () => process.stdout.write('x'.repeat(50_000), on); return on(); }`;
    const { say, got, warnings, running } = stdioLab(
      program(code),
      allow,
      within({ maxBytes: 100_000 }),
    );
    say({ id: 1, method: 'flood' });
    expect(await running).toBe(false);
    expect(got()).toMatchObject([{ id: 1, error: { message: 'the server has gone' } }]);
    expect(warnings).toEqual(['the server: a message is larger than 100000 bytes']);
  });

  it('reads no further from a server while its client does not read', async () => {
    let written = 0;
    const waiting: (() => void)[] = [];
    const code = `let at = 0;
      const on = () => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', method: 'notifications/x', params: { at: at++ } }) + '\\n', on);
      return on();`;
    const { say } = stdioLab(program(code), allow, {
      write: () => {
        written++;
        return new Promise((resolve) => waiting.push(resolve));
      },
    });
    say({ method: 'flood' });
    await expect.poll(() => written).toBe(1);
    waiting.pop()?.();
    await expect.poll(() => written).toBe(2);
  });

  it('takes messages in pieces, many in one piece, and letters that a piece cuts', async () => {
    const code = `if (m.params) return say({ id: m.id, result: m.params });`;
    const { stdin, got } = stdioLab(program(code));
    const line = (id: number) =>
      JSON.stringify({ jsonrpc: '2.0', id, method: 'x', params: { said: 'žř€😀' } });
    const bytes = Buffer.from(`${line(1)}\r\n\n${line(2)}\n`);
    for (const byte of bytes) stdin.write(Buffer.from([byte]));
    stdin.write(`${line(3)}\n${line(4)}\n`);
    await expect
      .poll(() => got().map(({ result }) => Object(result).said))
      .toEqual(Array(4).fill('žř€😀'));
  });
});

describe('the judge of a proxy', () => {
  const heard = { sessionId: 's', workspaceDir: '/w', toolName: 'mcp__a__b', params: { c: 1 } };
  const { signal } = new AbortController();

  async function guardLab(status: number, answer: unknown) {
    const asked: unknown[] = [];
    const server = createServer(async (request, response) => {
      asked.push([request.url, request.headers.authorization, await json(request)]);
      response.writeHead(status).end(JSON.stringify(answer));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    closing.push(() => server.close());
    const { port } = server.address() as AddressInfo; // it listens on a port
    return { asked, judge: guardJudge(async () => ({ port, token: 'secret' })) };
  }

  it.each([
    { status: 'allowed' },
    { status: 'allowed', params: { c: 2 }, context: 'mind it' },
    { status: 'refused', reason: 'no' },
  ])('asks the guard with its token, and takes its verdict %j', async (verdict) => {
    const { asked, judge } = await guardLab(200, verdict);
    expect(await judge('agent.tool.calling', heard, signal)).toEqual(verdict);
    expect(asked).toEqual([
      ['/judge/agent.tool.calling', 'Bearer secret', { agent: 'mcp', ...heard }],
    ]);
  });

  it.each([
    [401, {}],
    [200, {}],
    [200, { status: 'allowed', params: [] }],
    [200, { status: 'refused' }],
    [500, { status: 'allowed' }],
  ])('takes nothing else for a verdict: HTTP %i with %j', async (status, answer) => {
    const { judge } = await guardLab(status, answer);
    const error = await judge('agent.tool.calling', heard, signal).catch((thrown) => thrown);
    expect(error).toBeInstanceOf(Error);
    expect(error).not.toBeInstanceOf(GuardAway);
  });

  it('does not take a guard whose connection breaks for one that is away', async () => {
    const server = createServer((request) => request.socket.destroy());
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    closing.push(() => server.close());
    const { port } = server.address() as AddressInfo; // it listens on a port
    const judge = guardJudge(async () => ({ port, token: 'secret' }));
    const error = await judge('agent.tool.calling', heard, signal).catch((thrown) => thrown);
    expect(error).not.toBeInstanceOf(GuardAway);
    expect(error).toMatchObject({ message: expect.stringMatching(/^the guard gives no verdict/) });
  });

  it('says that the guard is away if it was never started, or has gone', async () => {
    const never = guardJudge(() => Promise.reject(new Error('no file')));
    await expect(never('agent.tool.calling', heard, signal)).rejects.toThrow(GuardAway);
    const gone = guardJudge(async () => ({
      ...{ port: 1, socketPath: '/there/is/no/socket', token: 'secret' },
    }));
    await expect(gone('agent.tool.calling', heard, signal)).rejects.toThrow(GuardAway);
  });
});

describe('a proxy on a port', () => {
  it('starts a server for each client, and tells the token that it has made', async () => {
    const { warnings, running, stop } = stdioLab(program(), allow, { port: 0 });
    await expect.poll(() => warnings).toHaveLength(1);
    const [, url = '', authorization = ''] =
      /at (\S+), with "Authorization: (.*)"/.exec(warnings[0] ?? '') ?? [];
    const initialize = async (): Promise<string> => {
      const params = {
        protocolVersion: '2025-06-18',
        capabilities: {},
        clientInfo: { name: 'c', version: '1' },
      };
      const response = await fetch(url, {
        method: 'POST',
        headers: {
          ...{ authorization, 'content-type': 'application/json' },
          accept: 'application/json, text/event-stream',
        },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params }),
      });
      return response.text();
    };
    const pids = (await Promise.all([initialize(), initialize()])).map((said) =>
      Number(/"pid":(\d+)/.exec(said)?.[1]),
    );
    expect(new Set(pids).size).toBe(2);
    stop.abort();
    expect(await running).toBe(true);
    expect(pids.map(isAlive)).toEqual([false, false]);
  });
});
