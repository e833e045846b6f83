import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { calls, modelServer, says } from '../../../extensions/openai/test/model-server.js';
import { cliProgram } from '../../support/compiled.js';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { root } from '../cli.js';

/** An extension that signs what the host says, and routes what is not `which` to the program. It says when a turn begins. */
const signed = (by: string): string => `
export default {
  kind: 'sluice-extension', id: 'sign', config: undefined,
  setup(api: any) {
    api.mutate('egress.preparing', 'sign', ({ payload }: any) => ({ content: payload.content + ' <${by}>' }));
    api.resolve('routing.resolving', 'by-word', ({ payload: { message } }: any) =>
      message.content === 'which' ? undefined : { resolve: { agentId: 'acp' } });
    api.augment('agent.starting', 'tell', ({ payload }: any) => {
      process.stderr.write('begun ' + payload.prompt + '\\n');
    });
  },
};
`;

/** A folder with a host that has each kind of child: the compiler, a server of tools, and an agent of its own. */
function withChildren(modelUrl: string) {
  const file = (path: string): string => join(root, path);
  const mcp = { command: process.execPath, args: [file('extensions/openai/test/mcp-program.js')] };
  const config = {
    extensions: [
      { path: './sign.ts' },
      {
        path: file('extensions/openai/dist/index.js'),
        config: { mcpServers: { it: { ...mcp, allow: ['pid'] } } },
      },
      { path: file('extensions/acp/dist/index.js') },
    ],
    agents: [
      { id: 'main', provider: `openai:m-1@${modelUrl}` },
      {
        id: 'acp',
        provider: `acp:${process.execPath} "${file('extensions/acp/test/scripted-agent.mjs')}"`,
      },
    ],
    defaultAgent: 'main',
  };
  return temporaryFolder({
    'sluice.config.json': JSON.stringify(config),
    'sign.ts': signed('one'),
  });
}

/** Returns whether a process is there. */
function isThere(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

/** A program that leads a group of processes, and all that it writes. */
class Group implements AsyncDisposable {
  readonly #child;
  readonly #closed: Promise<unknown>;
  #written = '';
  #heard = (): void => undefined;

  constructor(command: string, args: readonly string[], cwd: string) {
    const env = { PATH: process.env['PATH'], TERM: 'dumb' };
    this.#child = spawn(command, args, { cwd, env, stdio: 'pipe', detached: true });
    this.#closed = once(this.#child, 'close');
    for (const stream of [this.#child.stdout, this.#child.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => {
        this.#written += text;
        this.#heard();
      });
  }

  type(text: string): void {
    this.#child.stdin.write(text);
  }

  /** Sends a signal to all of its processes. */
  signal(name: NodeJS.Signals): void {
    process.kill(-(this.#child.pid ?? 0), name);
  }

  /** Waits until it has written something that it had not written when this was asked before, and takes it. */
  async until(wanted: RegExp): Promise<string> {
    const ended = this.#closed.then(() => 'ended');
    for (;;) {
      const found = wanted.exec(this.#written);
      if (found !== null) {
        this.#written = this.#written.slice(found.index + found[0].length);
        return found[0];
      }
      const heard = new Promise<string>((resolve) => {
        this.#heard = () => resolve('heard');
      });
      if ((await Promise.race([heard, ended])) === 'ended')
        throw new Error(`it ended before it wrote ${String(wanted)}: ${this.#written}`);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.#closed;
  }
}

/** Whether this machine has the program of util-linux that gives a command a terminal. */
const hasPty =
  process.platform === 'linux' &&
  spawnSync('script', ['--version'], { encoding: 'utf8' }).stdout?.includes('util-linux') === true;

/** Answers a message with a call of the tool, and the result of the call with what it says. */
const tellsThePid = async () => {
  let isAnswer = false;
  return modelServer((response, asked) => {
    const [last] = asked.body.messages.slice(-1);
    isAnswer = last?.role === 'tool';
    const answer = isAnswer ? says(`pid ${String(last?.content)}`) : calls(['mcp__it__pid', {}]);
    return answer(response, asked);
  });
};

describe('the children of a host', () => {
  it('outlive a SIGINT and a SIGHUP to the whole group, each is used afterwards, and all end with it by kill -9 (§13.14)', async () => {
    await using server = await tellsThePid();
    using folder = withChildren(server.url);
    await using host = new Group(process.execPath, [cliProgram, 'run', '--way'], folder.path);
    host.type('which\n');
    const pids = [await host.until(/pid \d+ <one>/)];
    host.type('pid\n');
    pids.push(await host.until(/\d+ <one>/));
    host.type('endless\n');
    await host.until(/begun endless/);
    host.signal('SIGINT'); // it stops the turn, and ends nothing
    await host.until(/aborted/);
    host.type('which\n');
    const later = [await host.until(/pid \d+ <one>/)];
    host.type('pid\n');
    later.push(await host.until(/\d+ <one>/));
    expect(later).toEqual(pids); // the same processes
    writeFileSync(join(folder.path, 'sign.ts'), signed('two'));
    host.signal('SIGHUP');
    await host.until(/sluice: sign was reloaded/);
    host.type('which\n');
    const last = await host.until(/pid \d+ <two>/);
    host.type('pid\n');
    const left = [last, await host.until(/\d+ <two>/)].map((told) => Number(/\d+/.exec(told)?.[0]));
    expect(left.map(isThere)).toEqual([true, true]);
    await host[Symbol.asyncDispose](); // kill -9; its stderr is closed when the compiler has ended, too
    await vi.waitFor(() => expect(left.map(isThere)).toEqual([false, false]), 60_000);
  });

  it.skipIf(!hasPty)('outlive the Ctrl-C of a person at a terminal (§13.14)', async () => {
    await using server = await tellsThePid();
    using folder = withChildren(server.url);
    const command = `"${process.execPath}" "${cliProgram}" run --watch`;
    await using host = new Group('script', ['-qefc', command, '/dev/null'], folder.path);
    host.type('which\n');
    const pid = await host.until(/pid \d+ <one>/);
    host.type('endless\n');
    await host.until(/begun endless/);
    host.type('\x03'); // the terminal sends SIGINT to the whole group
    await host.until(/aborted/);
    writeFileSync(join(folder.path, 'sign.ts'), signed('two'));
    await host.until(/sluice: sign was reloaded/);
    host.type('which\n');
    expect(await host.until(/pid \d+ <two>/)).toBe(pid.replace('one', 'two'));
  });
});
