import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import type { GatewayPrograms } from './global-setup.js';

/** What a gateway is started with. */
export interface GatewaySetup extends GatewayPrograms {
  /** Where its model answers: a Messages API on this machine. */
  readonly modelUrl: string;
  /** Files of the agent's workspace, by name. */
  readonly files?: Readonly<Record<string, string>>;
}

const token = 'a-token-of-the-tests';

/** What a gateway prints when it takes clients: of 2026.3, and of 2026.9. */
const isReady = /listening on ws:\/\/|\[gateway\] ready/;

/**
 * A real gateway of OpenClaw on this machine's loopback, in a process, a home and an environment of its own, without
 * channels and plugins. It can be killed and started again on its port, with what it has kept.
 */
export class GatewayProcess implements AsyncDisposable {
  readonly token = token;
  /** What it has printed. */
  readonly printed: string[] = [];
  readonly #setup: GatewaySetup;
  readonly #home: string;
  readonly #port: number;
  #child: ChildProcess | undefined;

  private constructor(setup: GatewaySetup, home: string, port: number) {
    this.#setup = setup;
    this.#home = home;
    this.#port = port;
  }

  /** Resolves when it listens. */
  static async start(setup: GatewaySetup): Promise<GatewayProcess> {
    const home = mkdtempSync(join(tmpdir(), 'sluice-gateway-'));
    const gateway = new GatewayProcess(setup, home, await freePort());
    gateway.#writeConfig();
    try {
      await gateway.start();
    } catch (error) {
      await gateway[Symbol.asyncDispose]();
      throw error;
    }
    return gateway;
  }

  get url(): string {
    return `ws://127.0.0.1:${this.#port}`;
  }

  /** A folder that goes with the gateway. */
  get folder(): string {
    return this.#home;
  }

  /** Starts it, or starts it again. Resolves when it listens. */
  async start(): Promise<void> {
    const { nodeProgram, openClaw } = this.#setup;
    const program = [join(openClaw, 'openclaw.mjs'), 'gateway', 'run', '--bind', 'loopback'];
    const child = spawn(nodeProgram, [...program, '--port', String(this.#port)], {
      cwd: this.#home,
      env: {
        PATH: `${dirname(nodeProgram)}:/usr/bin:/bin`, // nothing else of ours reaches it
        HOME: this.#home,
        TMPDIR: this.#home,
        OPENCLAW_STATE_DIR: join(this.#home, 'state'),
        OPENCLAW_OFFLINE: '1',
        OPENCLAW_TELEMETRY: '0',
        OPENCLAW_NO_AUTO_UPDATE: '1',
        OPENCLAW_SKIP_CHANNELS: '1',
        OPENCLAW_SKIP_CRON: '1',
        OPENCLAW_SKIP_GMAIL_WATCHER: '1',
        OPENCLAW_SKIP_CANVAS_HOST: '1',
        OPENCLAW_SKIP_BROWSER_CONTROL_SERVER: '1',
        NO_COLOR: '1',
      },
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true, // a group of its own: it works in a child of itself
    });
    this.#child = child;
    child.stderr?.on('data', (data: unknown) => this.printed.push(String(data)));
    await new Promise<void>((resolve, reject) => {
      child.once('error', reject);
      child.once('exit', (code) =>
        reject(new Error(`the gateway ended with ${code}: ${this.printed.join('\n')}`)),
      );
      createInterface({ input: child.stdout }).on('line', (line) => {
        this.printed.push(line);
        if (isReady.test(line)) resolve();
      });
    });
  }

  /** Ends it at once, as a crash would. */
  async kill(): Promise<void> {
    const child = this.#child;
    this.#child = undefined;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    if (child.pid === undefined) return;
    const closed = once(child, 'close'); // when the last of the group has let go of its pipes
    process.kill(-child.pid, 'SIGKILL');
    await closed;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill();
    rmSync(this.#home, { recursive: true, force: true });
  }

  #writeConfig(): void {
    const { modelUrl, files = {} } = this.#setup;
    const workspace = join(this.#home, 'workspace');
    mkdirSync(workspace);
    for (const [name, text] of Object.entries(files)) writeFileSync(join(workspace, name), text);
    const model = {
      id: 'scripted-1',
      name: 'Scripted',
      reasoning: true,
      input: ['text'],
      cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
      contextWindow: 200_000,
      maxTokens: 4_096,
    };
    const scripted = { baseUrl: modelUrl, apiKey: 'none', api: 'anthropic-messages' };
    const primary = { primary: 'scripted/scripted-1' };
    const config = {
      gateway: { mode: 'local', bind: 'loopback', auth: { mode: 'token', token } },
      models: { mode: 'replace', providers: { scripted: { ...scripted, models: [model] } } },
      agents: { defaults: { workspace, model: primary, skipBootstrap: true } },
      plugins: { enabled: false },
      logging: { file: join(this.#home, 'gateway.log') },
    };
    const state = join(this.#home, 'state');
    mkdirSync(state);
    writeFileSync(join(state, 'openclaw.json'), JSON.stringify(config));
  }
}

/** A port that nobody has right now. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('no port is free');
  return address.port;
}
