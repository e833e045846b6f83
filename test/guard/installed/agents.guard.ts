import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Heard, Point, Verdict } from '../../../extensions/guard/dist/agents/codec.js';
import { codecOf, commands } from '../../../extensions/guard/dist/index.js';
import { installOnce, npm, packageCache } from '../../support/package-cache.js';
import { LoopbackModel } from './loopback-model.js';

/** How a real agent is started against a model on loopback. */
interface Run {
  readonly name: string;
  readonly packages: readonly string[];
  readonly program: readonly string[];
  readonly tool: string;
  /** The name of the parameter with the command, as the model says it. */
  readonly command: string;
  readonly args: readonly string[];
  readonly env: (url: string) => Readonly<Record<string, string>>;
  /** Settings beside those of the guard, by their path in the home. */
  readonly settings?: (url: string) => readonly [file: string, text: string];
}

const runs: readonly Run[] = [
  {
    name: 'codex',
    packages: ['@openai/codex@0.171.0'],
    program: ['@openai/codex/bin/codex.js'],
    tool: 'exec_command',
    command: 'cmd',
    args: [
      ...['exec', '--skip-git-repo-check', '--dangerously-bypass-hook-trust'],
      ...['--dangerously-bypass-approvals-and-sandbox', 'go'],
    ],
    env: () => ({ LAB_KEY: 'none' }),
    settings: (url) => [
      '.codex/config.toml',
      `model = "mock"\nmodel_provider = "lab"\n[model_providers.lab]\nname = "lab"\nbase_url = "${url}/v1"\nwire_api = "responses"\nenv_key = "LAB_KEY"\n`,
    ],
  },
  {
    name: 'gemini',
    packages: ['@google/gemini-cli@0.61.0'],
    program: ['@google/gemini-cli/bundle/gemini.js'],
    tool: 'run_shell_command',
    command: 'command',
    args: ['--yolo', '-p', 'go'],
    env: (url) => ({
      ...{
        GEMINI_API_KEY: 'none',
        GOOGLE_GEMINI_BASE_URL: url,
        GEMINI_CLI_TRUST_WORKSPACE: 'true',
      },
      ...{ HTTPS_PROXY: 'http://127.0.0.1:9', NO_PROXY: '127.0.0.1' },
    }),
    settings: () => [
      '.gemini/settings.json',
      '{"security":{"auth":{"selectedType":"gemini-api-key"}},"privacy":{"usageStatisticsEnabled":false}}',
    ],
  },
  {
    name: 'copilot',
    packages: ['@github/copilot@1.0.102'],
    program: ['@github/copilot/npm-loader.js'],
    tool: 'bash',
    command: 'command',
    args: ['--allow-all-tools', '-p', 'go'],
    env: (url) => ({
      ...{
        COPILOT_OFFLINE: 'true',
        COPILOT_PROVIDER_BASE_URL: `${url}/v1`,
        COPILOT_MODEL: 'gpt-4',
      },
      ...{ COPILOT_PROVIDER_API_KEY: 'none', XDG_CACHE_HOME: packageCache() },
    }),
  },
  {
    name: 'opencode',
    packages: [`opencode-${process.platform}-${process.arch}@1.18.33`],
    program: [`opencode-${process.platform}-${process.arch}/bin/opencode`],
    tool: 'bash',
    command: 'command',
    args: ['run', 'go'],
    env: (url) => ({
      ...{ OPENCODE_DISABLE_AUTOUPDATE: '1', OPENCODE_DISABLE_MODELS_FETCH: '1' },
      npm_config_registry: `${url}/`,
    }),
    settings: (url) => [
      '.config/opencode/opencode.json',
      JSON.stringify({
        model: 'lab/mock',
        provider: {
          lab: {
            npm: '@ai-sdk/openai-compatible',
            options: { baseURL: `${url}/v1`, apiKey: 'none' },
            models: { mock: { name: 'mock', tool_call: true } },
          },
        },
      }),
    ],
  },
];

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'guard-agents-'));
  for (const name of ['home', 'work']) mkdirSync(join(folder, name));
});
afterEach(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));

/** A door with one verdict for each point: it has the codecs alone, and no rules. */
async function openDoor(verdict: (point: Point, heard: Heard) => Verdict) {
  const heard: [Point, Heard][] = [];
  const place = join(folder, 'home/.sluice/guard');
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const piece of request) body += piece;
    const [, , agent = '', hook] = (request.url ?? '').split(/[/?]/);
    const [point, codec] =
      Object.entries(codecOf(agent)?.points ?? {}).find(([, one]) => one.hook === hook) ?? [];
    const input = JSON.parse(body);
    if (codec === undefined) return;
    const at = point as Point; // a key of a record of points
    const one = codec.read(input);
    heard.push([at, one]);
    response.end(JSON.stringify(codec.write(verdict(at, one), input)));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo; // it listens on a port
  writeFileSync(join(place, 'door.json'), JSON.stringify({ port }));
  writeFileSync(join(place, 'token'), 'of the lab');
  return { heard, [Symbol.dispose]: () => void server.close() };
}

/** Runs an agent with one call of its shell. */
async function runAgent(run: Run, verdict: (point: Point, heard: Heard) => Verdict) {
  const at = await installOnce(`guard-${run.packages.join('-').replaceAll('/', '-')}`, (staging) =>
    npm(
      [
        'install',
        '--no-save',
        '--ignore-scripts',
        '--include=optional',
        '--prefix',
        staging,
        ...run.packages,
      ],
      staging,
    ),
  );
  const [home, cwd] = [join(folder, 'home'), join(folder, 'work')];
  const marker = join(cwd, 'ran.txt');
  await using model = await LoopbackModel.start({
    name: run.tool,
    args: { [run.command]: `echo judged > ${marker}; echo sk-secret`, description: 'go' },
  });
  const [file, text] = run.settings?.(model.url) ?? [];
  if (file !== undefined && text !== undefined) {
    mkdirSync(join(home, file, '..'), { recursive: true });
    writeFileSync(join(home, file), text);
  }
  const { problems } = await commands.init({ cwd, home, env: {}, user: true, agent: [run.name] });
  expect(problems).toEqual([]);
  using door = await openDoor(verdict);
  const [program = ''] = run.program.map((one) => join(at, 'node_modules', one));
  const isScript = program.endsWith('.js');
  const env = { PATH: process.env['PATH'] ?? '', HOME: home, ...run.env(model.url) };
  const args = [...(isScript ? [program] : []), ...run.args];
  const said = await new Promise<string>((resolve) => {
    const options = { cwd, env, timeout: 120_000 };
    const child = execFile(
      isScript ? process.execPath : program,
      args,
      options,
      (_error, out, err) => resolve(out + err),
    );
    child.stdin?.end();
  });
  const ran = existsSync(marker) ? readFileSync(marker, 'utf8').trim() : undefined;
  return { said, ran, heard: door.heard, read: model.asked.at(-1) ?? '' };
}

const pass: Verdict = { status: 'allowed' };

const isPlain = ({ name }: Run): boolean => name === 'gemini';
/** Their packages are large, so a short run has the one that is JavaScript alone. */
const chosen = process.env['GUARD_AGENTS'] === 'all' ? runs : runs.filter(isPlain);

describe.each(chosen.map((run) => [run.name, run] as const))('the real %s', (_name, run) => {
  it('is heard at every point, and runs what is allowed', async () => {
    const { ran, heard, read, said } = await runAgent(run, () => pass);
    expect(ran, said).toBe('judged');
    expect(read).toContain('sk-secret');
    const points = new Set(heard.map(([point]) => point));
    expect([...points].filter((point) => point !== 'session.starting')).toEqual([
      'ingress.normalized',
      'agent.tool.calling',
      'agent.tool.returning',
      'agent.completed',
    ]);
    const { params } = heard.find(([point]) => point === 'agent.tool.calling')?.[1] ?? {};
    expect(params?.['command']).toContain('echo judged');
  });

  it('does not run what is refused, and its model reads the reason', async () => {
    const reason = 'the rule no-echo refuses this';
    const { ran, read, said } = await runAgent(run, (point) =>
      point === 'agent.tool.calling' ? { status: 'refused', reason } : pass,
    );
    expect(ran, said).toBeUndefined();
    expect(read).toContain(reason);
  });

  it('runs what a rule has made of a call, and its model reads what a rule has left of the result', async () => {
    const { ran, read, said } = await runAgent(run, (point, { params }) => {
      if (point === 'agent.tool.returning') return { status: 'allowed', result: 'sk-[withheld]' };
      if (point !== 'agent.tool.calling') return pass;
      const command = String(params?.['command']).replace('judged', 'changed');
      return { status: 'allowed', params: { ...params, command } };
    });
    expect(ran, said).toBe('changed');
    expect(read).toContain('sk-[withheld]');
    expect(read).not.toMatch(/Output.{0,40}sk-secret|"content":"sk-secret/);
  });

  it('hears of no prompt that is refused', async () => {
    const { ran, heard } = await runAgent(run, (point) =>
      point === 'ingress.normalized' ? { status: 'refused', reason: 'not today' } : pass,
    );
    expect(ran).toBeUndefined();
    expect(heard.map(([point]) => point)).not.toContain('agent.tool.calling');
  });
});
