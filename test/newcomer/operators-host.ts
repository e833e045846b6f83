import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, mkdirSync } from 'node:fs';
import { request } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import { join, resolve } from 'node:path';
import process from 'node:process';

/** How a command ended, and what it wrote. */
export interface Ran {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a line of a shell. */
export async function sh(line: string, cwd: string): Promise<Ran> {
  const child = spawn('/bin/sh', ['-c', line], { cwd, env: environment(), stdio: 'pipe' });
  child.stdin.end();
  const written = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const)
    child[name].setEncoding('utf8').on('data', (text: string) => {
      written[name] += text;
    });
  const [code] = await once(child, 'close');
  return { code, ...written };
}

/** The environment of a service: no word of the tests. */
function environment(): NodeJS.ProcessEnv {
  const wanted = /^(?:PATH|HOME|(?:https?|no)_proxy|NODE_EXTRA_CA_CERTS|npm_config_\w+)$/i;
  const own = Object.entries(process.env).filter(([name]) => wanted.test(name));
  const quick = { npm_config_prefer_offline: 'true', npm_config_update_notifier: 'false' };
  return { ...Object.fromEntries(own), ...quick };
}

/** An image that was made without Docker: the steps of a Dockerfile, done in a folder of this machine. */
export interface Image {
  readonly workdir: string;
  /** The program that the container starts. */
  readonly command: readonly string[];
  readonly healthCheck: readonly string[];
}

/**
 * Does the steps of a Dockerfile.
 *
 * @param context the folder that `COPY` takes files from.
 * @param home the place of `/home/node`.
 * @throws Error if a step fails, or if it is of a kind that is not known here.
 */
export async function built(dockerfile: string, context: string, home: string): Promise<Image> {
  let workdir = home;
  mkdirSync(home);
  const exec: Record<string, readonly string[]> = {};
  for (const step of dockerfile.replaceAll('/home/node', home).trim().split('\n')) {
    const [, kind = '', rest = ''] = /^([A-Z]+) (.+)$/.exec(step) ?? [];
    if (kind === 'RUN') {
      const { code, stdout, stderr } = await sh(rest, workdir);
      if (code !== 0) throw new Error(`${step}: exit code ${code}\n${stdout}${stderr}`);
    } else if (kind === 'WORKDIR') {
      workdir = rest;
      mkdirSync(workdir, { recursive: true });
    } else if (kind === 'COPY') {
      const files = rest.split(' ').filter((word) => !word.startsWith('--'));
      const to = resolve(workdir, files.pop() ?? '');
      for (const file of files) copyFileSync(join(context, file), join(to, file));
    } else if (['ENTRYPOINT', 'CMD'].includes(kind)) exec[kind] = words(rest);
    else if (kind === 'HEALTHCHECK') exec[kind] = words(rest.replace(/^CMD /, ''));
    else if (!['FROM', 'ENV', 'USER', 'VOLUME'].includes(kind)) throw new Error(`unknown: ${step}`);
  }
  const { ENTRYPOINT = [], CMD = [], HEALTHCHECK = [] } = exec;
  return { workdir, command: [...ENTRYPOINT, ...CMD], healthCheck: HEALTHCHECK };
}

function words(json: string): readonly string[] {
  return JSON.parse(json) as readonly string[]; // the form of Docker that needs no shell
}

/** Ports of this machine that are free now. */
export async function freePorts(count: number): Promise<readonly number[]> {
  const servers = Array.from({ length: count }, () => createServer().listen(0, '127.0.0.1'));
  await Promise.all(servers.map((server) => once(server, 'listening')));
  const ports = servers.map((server) => (server.address() as AddressInfo).port); // they listen at ports
  await Promise.all(servers.map((server) => once(server.close(), 'close')));
  return ports;
}

/** A service that runs: its process, as a supervisor has it. */
export class Service {
  readonly #child: ChildProcess;
  readonly ended: Promise<number | null>;
  stderr = '';
  #heard = (): void => undefined;

  constructor([program = '', ...args]: readonly string[], cwd: string) {
    const stdio = ['ignore', 'ignore', 'pipe'] as const;
    this.#child = spawn(resolve(cwd, program), args, {
      cwd,
      env: environment(),
      stdio: [...stdio],
    });
    this.#child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.stderr += text;
      this.#heard();
    });
    this.ended = once(this.#child, 'close').then(([code]) => code);
    this.#child.once('error', () => undefined); // `ended` tells it
  }

  /** Resolves when it has written a text. @throws Error if it ends before. */
  async until(text: string): Promise<void> {
    const seen = new Promise<true>((settle) => {
      this.#heard = () => {
        if (this.stderr.includes(text)) settle(true);
      };
      this.#heard();
    });
    if ((await Promise.race([seen, this.ended])) !== true)
      throw new Error(`it ended before it wrote "${text}":\n${this.stderr}`);
  }

  async stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<number | null> {
    this.#child.kill(signal);
    return this.ended;
  }
}

/** Says something to the channel http, as a proxy of the name `gateway.example.org` hands it on. @returns the answer. */
export async function said(port: number, text: string): Promise<string> {
  const headers = { host: 'gateway.example.org', 'x-sluice-conversation': 'day' };
  const path = '/v1/chat/completions';
  const asked = request({ host: '127.0.0.1', port, method: 'POST', path, headers });
  asked.end(JSON.stringify({ model: 'sluice', messages: [{ role: 'user', content: text }] }));
  const [response] = await once(asked, 'response');
  let body = '';
  for await (const chunk of response) body += String(chunk);
  if (response.statusCode !== 200) throw new Error(`${response.statusCode}: ${body}`);
  return JSON.parse(body).choices[0].message.content;
}
